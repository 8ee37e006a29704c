/* Preloaded into a program, this makes it go by a clock that stands still until a test moves it:
   the file that SWARM_TEST_CLOCK names holds the milliseconds since 1970, as the machine writes
   a number of eight bytes. What measures time, rather than tell it, runs on. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *told)
{
    static int file = -1;
    int64_t millis;
    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
        return syscall(SYS_clock_gettime, clock, told);
    if (file < 0)
        file = open(getenv("SWARM_TEST_CLOCK"), O_RDONLY | O_CLOEXEC);
    if (pread(file, &millis, sizeof millis, 0) != sizeof millis)
        abort();
    told->tv_sec = millis / 1000;
    told->tv_nsec = millis % 1000 * 1000000;
    return 0;
}

int gettimeofday(struct timeval *restrict told, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    told->tv_sec = now.tv_sec;
    told->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *told)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told)
        *told = now.tv_sec;
    return now.tv_sec;
}
