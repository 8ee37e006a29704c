/* Preloaded into a server. After each sync of a store file, keeps a copy of the file as it was before the
   sync: the state on disk. The copy is written before the sync returns. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether the disk reports syncs without doing them. */
static int lies(void) { return getenv("SWARM_TEST_DISK_LIES") != NULL; }

static void copy(const char *from, const char *to) {
    static char bytes[1 << 20];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (in < 0 || out < 0) abort();
    for (;;) {
        ssize_t count = read(in, bytes, sizeof bytes);
        if (count < 0) abort();
        if (count == 0) break;
        if (write(out, bytes, count) != count) abort();
    }
    close(in);
    close(out);
}

static int synced(long call, int file) {
    char link[64], path[4096], fresh[4200], kept[4200];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t end = readlink(link, path, sizeof path - 1);
    if (end < 0) abort();
    path[end] = 0;
    int is_store = strstr(path, "swarm.db") != NULL && !lies();
    snprintf(fresh, sizeof fresh, "%s.fresh", path);
    snprintf(kept, sizeof kept, "%s.synced", path);
    if (is_store) copy(path, fresh);
    usleep(1000); /* The latency of a disk. */
    if (syscall(call, file) != 0) return -1;
    if (is_store && rename(fresh, kept) != 0) abort();
    return 0;
}

int fsync(int file) { return synced(SYS_fsync, file); }

int fdatasync(int file) { return synced(SYS_fdatasync, file); }
