//! Faults of backends, and the cases of the suite that catch them. A requirement without a row here may be unchecked.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use swarm_core::domain::{Seq, Version};
use swarm_core::store::backend::{
    Answer, Append, Backend, Body, Check, CommitId, CommitOutcome, Decision, Entry, Item, Kind,
    PartSet, Query, Range, Reading, Row, Table, Term, Transaction, Value, Write,
};
use swarm_core::store::{Result, Store, StoreError};
use swarm_core::{TenantId, Timestamp};
use swarm_store_memory::MemoryBackend;
use swarm_testing::ManualClock;
use swarm_testing::backend::{self as suite, TABLES, wait_of_a_commit_counts_towards_its_deadline};
use swarm_testing::conformance;
use tokio::time::sleep;

use super::broken::{BrokenBackend, Fault};
use super::{expect_broken, held_time, hold, time};

/// Makes a test of each row, `fault: its kind and what it does => the cases that catch it;`, and a list of the cases.
macro_rules! plant {
    ($($group:ident, $run:ident {
        $($fault:ident: $kind:ident $(($change:expr))? => $($case:ident)+;)*
    })*) => {
        const CAUGHT: &[&str] = &[$($($(stringify!($case)),+),*),*];

        $(mod $group {$(
            #[allow(non_snake_case, reason = "named after the fault")]
            mod $fault {
                use super::super::*;

                const FAULT: Fault = Fault::$kind $(($change))?;

                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                    async fn $case() {
                        $run! { FAULT, $case }
                    }
                )*
            }
        )*})*
    };
}

macro_rules! every {
    ($fault:ident, $case:ident) => {
        let memory = MemoryBackend::with_clock(time);
        expect_broken(suite::$case(BrokenBackend::over(memory, $fault))).await;
    };
}

/// The fault is in the backend that is opened again.
macro_rules! durability {
    ($fault:ident, $case:ident) => {
        let memory = MemoryBackend::with_clock(time);
        let reopen = async |memory: &MemoryBackend| BrokenBackend::over(memory.clone(), $fault);
        expect_broken(suite::$case(Arc::new(memory.clone()), &memory, reopen)).await;
    };
}

macro_rules! clock {
    ($fault:ident, $case:ident) => {
        let clock = ManualClock::at(Timestamp::EPOCH);
        let shown = clock.clone();
        let broken = BrokenBackend::over(MemoryBackend::with_clock(move || shown.now()), $fault);
        expect_broken(suite::$case(broken, &clock, ManualClock::set)).await;
    };
}

macro_rules! feed {
    ($fault:ident, $case:ident) => {
        let memory = MemoryBackend::with_clock(time);
        expect_broken(suite::$case(shared(BrokenBackend::processes(memory, $fault, 2)))).await;
    };
}

plant! {
    queries, every {
        SecondColumnOfTheKeyUnasked: Range(|range| range.prefix.truncate(1))
            => record_is_found_by_its_key;
        AlwaysAscending: Range(|range| range.is_descending = false)
            => records_are_in_the_order_of_their_key records_are_in_the_order_of_an_index;
        IndexInTheOrderOfTheKey: Rows(|_, rows| rows.sort_by_key(|row| row.columns[0].clone()))
            => records_are_in_the_order_of_an_index;
        PrefixIsOfTexts: Range(prefix_of_texts)
            => prefix_selects_records_with_its_values;
        AfterIsInclusive: Range(|range| range.after.as_mut().into_iter().for_each(decrement))
            => bounds_of_a_range_are_exclusive integers_have_64_bits;
        BeforeUnasked: Range(|range| range.before = None)
            => bounds_of_a_range_are_exclusive;
        HavingUnasked: Range(|range| range.having = None)
            => range_may_leave_out_records_without_a_value;
        LimitUnasked: Range(|range| range.limit = usize::MAX)
            => range_has_at_most_its_limit records_are_counted_up_to_a_limit;
        BytesUnlimited: Range(|range| range.bytes = usize::MAX)
            => range_is_limited_in_bytes;
        PartsForgotten: Row(|row| row.body = Body::empty())
            => parts_are_read_as_named record_round_trips;
        NothingIsVeiled: Range(|range| if range.parts == PartSet::SHOWN { range.parts = PartSet::ALL })
            => part_is_veiled_until_another_record_says_otherwise;
        AllIsVeiled: Row(|row| row.body = row.body.clone().veiled())
            => part_is_veiled_until_another_record_says_otherwise;
        MissingAreNotJoined: Answer(|answer| if let Answer::Rows { joined, .. } = answer { joined.retain(Option::is_some) })
            => records_are_joined_with_those_they_name;
        FoundUnasked: Range(|range| range.prefix.retain(|term| matches!(term, Term::Value(_))))
            => query_uses_values_found_before;
        LastAnswerFirst: Reading(|reading| reading.answers.reverse())
            => answers_have_the_order_of_their_queries;
    }
    values, every {
        NullIsZero: Row(|row| change_columns(row, |value| if value.is_null() { *value = Value::Integer(0) }))
            => record_round_trips;
        TextsEndAtZero: Row(|row| change_columns(row, end_at_zero))
            => texts_have_any_character;
        TextsInTheOrderOfUtf16: Rows(|_, rows| rows.sort_by_key(|row| utf16(&row.columns[column("code")])))
            => texts_are_ordered_by_their_bytes;
        BytesAreSigned: Rows(|_, rows| rows.sort_by_key(|row| signed(&row.columns[column("seal")])))
            => bytes_are_ordered_as_such;
        IntegersAreDoubles: Row(|row| change_columns(row, double))
            => integers_have_64_bits;
        TimeBeginsIn1970: Row(|row| change_column(row, column("due"), |due| if due.integer() < Some(0) { *due = Value::Integer(0) }))
            => times_may_be_before_1970;
        NullIsIndexed: Range(|range| if range.prefix.is_empty() { range.index = None })
            => record_with_a_null_is_not_in_the_index;
        LongPartsAreCut: Row(|row| cut(row, 65_535))
            => long_texts_round_trip;
        LongKeysAreCut: Write(|write| replace_terms(write, end_at_100_characters))
            => long_keys_are_distinct;
    }
    checks, every {
        VersionUnchecked: Check(|check| if matches!(check, Check::Version { .. }) { *check = met() })
            => version_is_checked one_of_concurrent_commits_at_a_version_is_made;
        LateAtTheDeadline: Check(|check| if let Check::NotAfter(deadline) = check { *deadline = deadline.plus_millis(-1) })
            => commit_is_made_up_to_its_deadline;
        DeadlineUnchecked: Check(|check| if matches!(check, Check::NotAfter(_)) { *check = met() })
            => commit_is_made_up_to_its_deadline first_unmet_check_is_reported;
        FirstIsTheLast: Check(|check| if let Check::First { range, .. } = check { range.is_descending ^= true })
            => first_record_of_a_range_is_checked;
        VersionOfTheFirstUnasked: Check(|check| if let Check::First { version, .. } = check { *version = None })
            => first_record_of_a_range_is_checked;
        HighestIsTheLast: Check(|check| if let Check::AtMost { range, .. } = check { (range.is_descending, range.limit) = (true, 1) })
            => highest_value_of_a_range_is_checked;
        AbsentWithoutExcept: Check(|check| if let Check::None { except, .. } = check { except.clear() })
            => absence_of_records_is_checked;
        FoundIsNotShown: Outcome(|outcome| if let Decision::Failed { found, .. } = &mut outcome.decision { *found = None })
            => absence_of_records_is_checked;
        AbsenceUnchecked: Check(|check| if matches!(check, Check::None { .. }) { *check = met() })
            => absence_of_records_is_checked one_of_concurrent_records_with_a_unique_value_is_inserted
                repetition_is_recognized_by_its_identity;
        CountedWithoutExcept: Check(|check| if let Check::Count { except, .. } = check { except.clear() })
            => number_of_records_is_checked;
        LeastUnchecked: Check(|check| if let Check::Count { least, .. } = check { *least = 0 })
            => number_of_records_is_checked;
        SumAfterTheChanges: Transaction(sum_after_the_changes)
            => sum_is_checked_before_the_changes;
        LastUnmetReported: Transaction(|transaction| transaction.checks.reverse())
            => first_unmet_check_is_reported;
        NumberUsedByTheRefused: Commit(number_used_by_the_refused)
            => nothing_is_written_unless_all_checks_are_met;
    }
    writes, every {
        PutIsAlwaysNew: Transaction(removed_before_each_put)
            => each_put_replaces_the_record_and_counts_its_version;
        SetInAllRecords: Write(|write| if let Write::Set { range, .. } = write { *range = Range::all(range.table) })
            => set_column_keeps_version_and_parts;
        SetPutsTheRecord: Commit(set_puts_the_record)
            => set_column_keeps_version_and_parts;
        ChangedRecordLeavesItsIndexes: Rows(|query, rows| if in_index(query) { rows.retain(|row| row.version == Version(1)) })
            => changed_record_moves_in_its_indexes index_shows_the_current_record;
        IndexKeepsOldColumns: Rows(|query, rows| if in_index(query) { rows.iter_mut().for_each(|row| change_column(row, column("unpaid"), |it| *it = Value::Null)) })
            => index_shows_the_current_record;
        FirstOfTheRangeRemoved: Write(|write| if let Write::Remove(range) = write { range.limit = 1 })
            => removed_record_is_found_by_no_query;
        NothingIsSubtracted: Write(|write| if let Write::Add(_, amount) = write { *amount = (*amount).max(0) })
            => sum_is_never_below_zero;
        OneSequenceForAll: Transaction(|transaction| transaction.sequences.fill("all"))
            => sequences_count_from_one;
        TextIsANumber: Write(|write| replace_terms(write, |term| if let Term::AssignedText(it) = term { *term = Term::Assigned(*it) }))
            => placeholders_get_what_the_commit_assigns;
        NowForgotten: Write(|write| replace_terms(write, |term| if *term == Term::Now { *term = Term::Value(Value::Null) }))
            => placeholders_get_what_the_commit_assigns;
        LastWriteFirst: Transaction(|transaction| transaction.writes.reverse())
            => writes_are_made_in_their_order;
    }
    log, every {
        EmptyLogHasNoNumber: Reading(|reading| if reading.head.size == Seq(0) { reading.head.log = 0 })
            => log_is_initially_empty;
        LastEntryFirst: Transaction(|transaction| transaction.entries.reverse())
            => entries_have_consecutive_numbers_from_one;
        HeadIsThatBefore: Outcome(|outcome| outcome.head.size = Seq(outcome.head.size.0.saturating_sub(1)))
            => entries_have_consecutive_numbers_from_one concurrent_commits_append_consecutive_entries;
        CommitOfEntriesForgotten: Entries(|entries| entries.iter_mut().for_each(|entry| entry.commit = CommitId([0; 16])))
            => entry_has_the_identity_and_the_time_of_its_commit;
        TopicUnasked: Query(|query| if let Query::Entries(it) = query { it.topic = None })
            => entries_are_read_by_pages;
        AfterUnasked: Query(|query| if let Query::Entries(it) = query { it.after = Seq(0) })
            => entries_are_read_by_pages;
        ReferencesUnread: Entries(|entries| references(entries).for_each(|row| *row = None))
            => entry_shows_the_record_it_refers_to;
        PartsOfReferencesUnread: Entries(|entries| references(entries).flatten().for_each(|row| row.body = Body::empty()))
            => entry_shows_the_record_it_refers_to;
        OneEntryForARange: Transaction(|transaction| transaction.entries.iter_mut().for_each(one_entry))
            => each_record_of_a_range_gets_an_entry;
        RepetitionUnasked: Transaction(|transaction| transaction.repetition = None)
            => repetition_is_recognized_by_its_identity;
        AnyRecordIsARepetition: Outcome(any_record_is_a_repetition)
            => repetition_is_recognized_by_its_identity;
        OnlyFromTheEnd: Commit(only_from_the_end)
            => commit_goes_on_from_an_earlier_position;
        PositionUnchecked: Transaction(|transaction| transaction.seen.size = Seq(0))
            => commit_from_an_unknown_position_is_refused position_of_an_earlier_log_is_contended;
        AsideIsChecked: Transaction(|transaction| if transaction.kind == Kind::Aside { transaction.kind = Kind::Usual })
            => commit_from_an_unknown_position_is_refused;
        SeenLogUnasked: Transaction(|transaction| transaction.seen.log = 1)
            => accepted_log_has_a_higher_number;
    }
    consistency, every {
        ReadInPieces: Read(read_in_pieces)
            => read_shows_whole_commits;
        WrittenInPieces: Commit(written_in_pieces)
            => read_shows_whole_commits dropped_commit_is_whole_or_not_made;
        CheckedBeforehand: Commit(checked_beforehand)
            => one_of_concurrent_commits_at_a_version_is_made
                one_of_concurrent_records_with_a_unique_value_is_inserted;
        NumbersReadBeforehand: Commit(numbers_read_beforehand)
            => concurrent_commits_take_consecutive_numbers;
        EntriesOneByOne: Commit(entries_one_by_one)
            => concurrent_commits_append_consecutive_entries;
    }
    tenants, every {
        NeverReady: NotReady
            => backend_is_ready;
        RecordsOfAnyTenant: Read(|memory, id, queries| read_anywhere(memory, id, queries, |query| matches!(query, Query::Rows(_))))
            => records_are_isolated_by_tenant;
        CountsOfAnyTenant: Read(|memory, id, queries| read_anywhere(memory, id, queries, |query| matches!(query, Query::Count(_))))
            => records_are_isolated_by_tenant;
        SequencesOfAnyTenant: Read(|memory, id, queries| read_anywhere(memory, id, queries, |query| matches!(query, Query::Sequence(_))))
            => sequences_are_isolated_by_tenant;
        LogsOfAnyTenant: Read(|memory, id, queries| read_anywhere(memory, id, queries, |query| matches!(query, Query::Entries(_))))
            => logs_are_isolated_by_tenant;
        CommitsOfAnyTenant: Read(|memory, id, queries| read_anywhere(memory, id, queries, |query| matches!(query, Query::CommitOf(_))))
            => logs_are_isolated_by_tenant;
        CheckedInAnyTenant: Commit(checked_in_any_tenant)
            => checks_are_isolated_by_tenant;
        RemovedInAllTenants: Commit(removed_in_all_tenants)
            => records_are_isolated_by_tenant;
        LastTenantFirst: Tenants(|tenants| tenants.reverse())
            => used_tenants_are_listed_by_id;
        OneTenantListed: Tenants(|tenants| tenants.truncate(1))
            => used_tenants_are_listed_by_id;
    }
    transfer, every {
        LiveSnapshot: SnapshotIsLive
            => snapshot_shows_no_later_commit;
        ReadableAtOnce: LoadedAtOnce
            => loaded_records_are_readable_after_the_commit discarded_load_leaves_nothing;
        KeptThoughDiscarded: LoadedThoughDiscarded
            => discarded_load_leaves_nothing;
        OneTenantAfterTheOther: LoadedOneByOne
            => used_tenant_is_not_loaded;
        LoadedLogIsTheFirst: Item(|item| if let Item::Entry(log, _) = item { *log = 1 })
            => loaded_log_and_sequences_are_continued;
        SequencesNotLoaded: Item(|item| if let Item::Sequence(_, number) = item { *number = 0 })
            => loaded_log_and_sequences_are_continued;
        TransientRecordsRemoved: Loading(|transaction| transaction.writes.extend(transient().map(|table| Write::Remove(Range::all(table)))))
            => transient_records_are_kept_by_a_load;
        RemovedTenantIsKept: NothingRemoved
            => removed_tenant_has_nothing_left;
        AllTenantsAreRemoved: EverythingRemoved
            => removed_tenant_has_nothing_left;
    }
    durability, durability {
        RecordsForgotten: Rows(|_, rows| rows.clear())
            => records_survive_reopening loaded_records_survive_reopening;
        SequencesForgotten: Answer(|answer| if let Answer::Number(number) = answer { *number = 0 })
            => log_and_sequences_survive_reopening;
        LogForgotten: Entries(|entries| entries.clear())
            => log_and_sequences_survive_reopening loaded_records_survive_reopening;
        AttemptsForgotten: Transaction(|transaction| transaction.repetition = None)
            => repetition_is_recognized_after_reopening;
    }
    clock, clock {
        TimeOfTheClock: Transaction(|transaction| if transaction.kind == Kind::Usual { transaction.kind = Kind::AcceptClock })
            => time_is_that_of_the_log_while_the_clock_is_behind
                commit_is_refused_while_the_clock_is_far_behind
                repetition_is_recognized_while_the_clock_is_far_behind;
        TimeOfTheLogIsRead: Reading(|reading| reading.clock = reading.head.at.map_or(reading.clock, |at| at.max(reading.clock)))
            => time_is_that_of_the_log_while_the_clock_is_behind;
        ClockCheckedFirst: Commit(clock_checked_first)
            => repetition_is_recognized_while_the_clock_is_far_behind;
        AcceptanceIdle: Transaction(|transaction| transaction.kind = Kind::Usual)
            => accepted_clock_may_be_far_behind log_is_accepted_while_the_clock_is_far_behind;
        AsideAtTheTimeOfTheLog: Transaction(|transaction| if transaction.kind == Kind::Aside { transaction.kind = Kind::AcceptLog })
            => log_is_accepted_while_the_clock_is_far_behind;
    }
    feed, feed {
        NothingAnnounced: Changes(|changes| changes.tenants = Some(Vec::new()))
            => each_commit_is_announced_to_other_processes;
        HiddenByOwnCommit: LastProcessIsAnnounced
            => own_commit_hides_none_of_another_process;
        AnnouncedThoughAside: AsideIsAnnounced
            => commit_aside_is_not_announced;
        TimeOfAnotherClock: Changes(|changes| changes.now = Timestamp::EPOCH)
            => feed_has_the_time_of_the_clock;
    }
}

/// The cases of the feed of a store, which also has what its own process commits.
mod feed_of_a_store {
    use super::*;

    fn processes(fault: Fault) -> Vec<Store> {
        let open = BrokenBackend::processes(MemoryBackend::with_clock(time), fault, 2);
        open.into_iter().map(Store::new).collect()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn without_a_fault() {
        conformance::each_commit_is_announced_to_every_process(processes(Fault::Nothing)).await;
        conformance::concurrent_commits_of_tenants_are_all_announced(processes(Fault::Nothing))
            .await;
        conformance::feed_has_the_time_of_the_store(processes(Fault::Nothing)).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn that_announces_nothing_of_others() {
        let broken = processes(Fault::Changes(|changes| changes.tenants = Some(Vec::new())));
        expect_broken(conformance::each_commit_is_announced_to_every_process(broken)).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn that_announces_one_of_several_tenants() {
        let last = |changes: &mut swarm_core::store::Changes| {
            let tenants = changes.tenants.as_mut().unwrap();
            tenants.drain(..tenants.len().saturating_sub(1));
        };
        let broken = processes(Fault::Changes(last));
        expect_broken(conformance::concurrent_commits_of_tenants_are_all_announced(broken)).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn whose_time_is_that_of_another_clock() {
        let broken = processes(Fault::Changes(|changes| changes.now = Timestamp::EPOCH));
        expect_broken(conformance::feed_has_the_time_of_the_store(broken)).await;
    }
}

/// A case without a fault may be one that cannot fail.
#[test]
fn every_case_catches_a_fault() {
    let every = swarm_testing::backend_cases!(every names ());
    let durability = swarm_testing::backend_cases!(durability names ());
    let clock = swarm_testing::backend_cases!(clock names ());
    let feed = swarm_testing::backend_cases!(feed names ());
    let cases = every.iter().chain(&durability).chain(&clock).chain(&feed);
    let idle: Vec<_> = cases.filter(|case| !CAUGHT.contains(case)).collect();
    assert!(idle.is_empty(), "these catch nothing: {idle:#?}");
}

/// Without a fault every case passes.
mod intact {
    use super::*;

    async fn intact() -> (MemoryBackend, Arc<dyn Backend>) {
        let memory = MemoryBackend::with_clock(time);
        (memory.clone(), BrokenBackend::over(memory, Fault::Nothing))
    }

    async fn reopened(memory: &MemoryBackend) -> Arc<dyn Backend> {
        BrokenBackend::over(memory.clone(), Fault::Nothing)
    }

    async fn in_three_processes() -> ((), Vec<Arc<dyn Backend>>) {
        ((), shared(BrokenBackend::processes(MemoryBackend::with_clock(time), Fault::Nothing, 3)))
    }

    swarm_testing::backend_conformance!(intact);
    swarm_testing::backend_conformance!(durability intact, reopened);
    swarm_testing::backend_conformance!(feed in_three_processes);
}

/// The clock is read before the wait for the tenant.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn backend_that_reads_its_clock_before_it_waits_is_caught() {
    let memory = MemoryBackend::with_clock(held_time);
    let fault = Fault::Transaction(|transaction| {
        for check in &mut transaction.checks {
            if matches!(check, Check::NotAfter(deadline) if time() <= *deadline) {
                *check = met();
            }
        }
    });
    let broken = BrokenBackend::over(memory.clone(), fault);
    let hold = async |tenant: &TenantId| hold(memory, tenant.clone()).await;
    expect_broken(wait_of_a_commit_counts_towards_its_deadline(broken, hold)).await;
}

fn shared(backends: Vec<BrokenBackend>) -> Vec<Arc<dyn Backend>> {
    backends.into_iter().map(|backend| Arc::new(backend) as Arc<dyn Backend>).collect()
}

type Reads = BoxFuture<'static, Result<Reading>>;
type Commits = BoxFuture<'static, Result<CommitOutcome>>;

/// Lets other tasks run.
async fn pause() {
    sleep(Duration::from_millis(2)).await;
}

fn read_in_pieces(memory: MemoryBackend, id: TenantId, queries: Vec<Query>) -> Reads {
    Box::pin(async move {
        let mut reading = memory.read(&id, "piece", Vec::new()).await?;
        for query in queries {
            pause().await;
            reading.answers.append(&mut memory.read(&id, "piece", vec![query]).await?.answers);
        }
        Ok(reading)
    })
}

/// Answers queries of a kind from another tenant if this one has nothing.
fn read_anywhere(
    memory: MemoryBackend,
    id: TenantId,
    queries: Vec<Query>,
    is_broken: fn(&Query) -> bool,
) -> Reads {
    Box::pin(async move {
        let mut reading = memory.read(&id, "own", queries.clone()).await?;
        for other in memory.tenants().await? {
            let others = memory.read(&other, "other", queries.clone()).await?.answers;
            for ((query, own), other) in queries.iter().zip(&mut reading.answers).zip(others) {
                let has_nothing = match own {
                    Answer::Rows { rows, .. } => rows.is_empty(),
                    Answer::Number(number) => *number == 0,
                    Answer::Entries(entries) => entries.is_empty(),
                    Answer::Commit(commit) => commit.is_none(),
                };
                if has_nothing && is_broken(query) {
                    *own = other;
                }
            }
        }
        Ok(reading)
    })
}

fn number_used_by_the_refused(memory: MemoryBackend, id: TenantId, sent: Transaction) -> Commits {
    Box::pin(async move {
        let sequences = sent.sequences.clone();
        let outcome = memory.commit(&id, "broken", sent).await?;
        if matches!(outcome.decision, Decision::Failed { .. }) {
            let used = Transaction { sequences, ..super::transaction() };
            memory.commit(&id, "broken", used).await?;
        }
        Ok(outcome)
    })
}

fn set_puts_the_record(memory: MemoryBackend, id: TenantId, sent: Transaction) -> Commits {
    Box::pin(async move {
        let mut puts = Vec::new();
        for write in &sent.writes {
            let Write::Set { range, .. } = write else { continue };
            let found = memory.read(&id, "broken", vec![Query::Rows(range.clone())]).await?;
            puts.extend(found.answers[0].rows().iter().map(|row| put(range.table, row)));
        }
        let writes = puts.into_iter().chain(sent.writes).collect();
        memory.commit(&id, "broken", Transaction { writes, ..sent }).await
    })
}

fn only_from_the_end(memory: MemoryBackend, id: TenantId, sent: Transaction) -> Commits {
    Box::pin(async move {
        let size = memory.read(&id, "broken", Vec::new()).await?.head.size;
        match sent.seen.size {
            Seq(0) => memory.commit(&id, "broken", sent).await,
            seen if seen == size => memory.commit(&id, "broken", sent).await,
            _ => Err(StoreError::went_back("broken")),
        }
    })
}

fn written_in_pieces(memory: MemoryBackend, id: TenantId, sent: Transaction) -> Commits {
    Box::pin(async move {
        let entries = Transaction { entries: sent.entries.clone(), ..super::transaction() };
        let mut outcome =
            memory.commit(&id, "broken", Transaction { entries: Vec::new(), ..sent }).await?;
        pause().await;
        outcome.head = memory.commit(&id, "broken", entries).await?.head;
        Ok(outcome)
    })
}

fn checked_beforehand(memory: MemoryBackend, id: TenantId, sent: Transaction) -> Commits {
    Box::pin(async move {
        let checks = Transaction { checks: sent.checks.clone(), ..super::transaction() };
        let checked = memory.commit(&id, "broken", checks).await?;
        if matches!(checked.decision, Decision::Failed { .. }) {
            return Ok(checked);
        }
        pause().await;
        memory.commit(&id, "broken", Transaction { checks: Vec::new(), ..sent }).await
    })
}

fn numbers_read_beforehand(memory: MemoryBackend, id: TenantId, sent: Transaction) -> Commits {
    Box::pin(async move {
        let queries = sent.sequences.iter().map(|name| Query::Sequence(name)).collect();
        let read = memory.read(&id, "broken", queries).await?.answers;
        pause().await;
        let mut outcome = memory.commit(&id, "broken", sent).await?;
        if let Decision::Committed(assigned) = &mut outcome.decision {
            for (number, read) in assigned.numbers.iter_mut().zip(read) {
                let Answer::Number(read) = read else { continue };
                *number = read + 1;
            }
        }
        Ok(outcome)
    })
}

fn entries_one_by_one(memory: MemoryBackend, id: TenantId, sent: Transaction) -> Commits {
    Box::pin(async move {
        let entries = sent.entries.clone();
        let commit = sent.id;
        let mut outcome =
            memory.commit(&id, "broken", Transaction { entries: Vec::new(), ..sent }).await?;
        for entry in entries {
            let one = Transaction { id: commit, entries: vec![entry], ..super::transaction() };
            outcome.head = memory.commit(&id, "broken", one).await?.head;
            pause().await;
        }
        Ok(outcome)
    })
}

fn checked_in_any_tenant(memory: MemoryBackend, id: TenantId, sent: Transaction) -> Commits {
    Box::pin(async move {
        for other in memory.tenants().await? {
            let checks = Transaction { checks: sent.checks.clone(), ..super::transaction() };
            let checked = memory.commit(&other, "broken", checks).await?;
            if matches!(checked.decision, Decision::Failed { .. }) {
                return Ok(checked);
            }
        }
        memory.commit(&id, "broken", sent).await
    })
}

fn removed_in_all_tenants(memory: MemoryBackend, id: TenantId, sent: Transaction) -> Commits {
    Box::pin(async move {
        let mut writes = sent.writes.clone();
        writes.retain(|write| matches!(write, Write::Remove(_)));
        for other in memory.tenants().await? {
            let removing = Transaction { writes: writes.clone(), ..super::transaction() };
            memory.commit(&other, "broken", removing).await?;
        }
        memory.commit(&id, "broken", sent).await
    })
}

fn clock_checked_first(memory: MemoryBackend, id: TenantId, sent: Transaction) -> Commits {
    Box::pin(async move {
        memory.commit(&id, "broken", super::transaction()).await?;
        memory.commit(&id, "broken", sent).await
    })
}

/// A text as the only value of a prefix also selects the texts that begin with it.
fn prefix_of_texts(range: &mut Range) {
    if let (Some(_), [Term::Value(Value::Text(text))]) = (range.index, &range.prefix[..]) {
        range.before = Some(format!("{text}\u{10ffff}").into());
        range.prefix.clear();
    }
}

fn decrement(term: &mut Term) {
    if let Term::Value(Value::Integer(number)) = term {
        *number = number.saturating_sub(1);
    }
}

fn sum_after_the_changes(transaction: &mut Transaction) {
    for check in &mut transaction.checks {
        for write in &transaction.writes {
            if let (Check::Sum(_, most), Write::Add(_, amount)) = (&mut *check, write) {
                *most = most.saturating_add_signed(-amount);
            }
        }
    }
}

fn removed_before_each_put(transaction: &mut Transaction) {
    let writes = std::mem::take(&mut transaction.writes);
    for write in writes {
        if let Write::Put { table, columns, .. } = &write {
            let key = columns[..table.key].to_vec();
            transaction.writes.push(Write::Remove(Range::key(table, key)));
        }
        transaction.writes.push(write);
    }
}

fn one_entry(entry: &mut Append) {
    if let Append::Each { range, .. } = entry {
        range.limit = 1;
    }
}

fn any_record_is_a_repetition(outcome: &mut CommitOutcome) {
    if let Decision::Failed { found: Some(row), .. } = &outcome.decision {
        outcome.decision = Decision::Repeated(row.clone());
    }
}

/// A check that every commit meets.
fn met() -> Check {
    Check::NotAfter(Timestamp::EPOCH.plus_millis(i64::MAX))
}

fn put(table: &'static Table, row: &Row) -> Write {
    let columns = row.columns.iter().cloned().map(Term::Value).collect();
    Write::Put { table, columns, body: row.body.clone() }
}

fn in_index(query: &Query) -> bool {
    matches!(query, Query::Rows(Range { index: Some(_), .. }))
}

/// The transient tables.
fn transient() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().copied().filter(|table| table.is_transient)
}

/// The position of a column of the parcels, the first table.
fn column(name: &str) -> usize {
    TABLES[0].column(name).unwrap()
}

/// The records that entries refer to.
fn references(entries: &mut [Entry]) -> impl Iterator<Item = &mut Option<Row>> {
    entries.iter_mut().filter_map(|entry| Some(&mut entry.reference.as_mut()?.row))
}

fn change_column(row: &mut Row, place: usize, change: impl FnOnce(&mut Value)) {
    let mut columns = row.columns.to_vec();
    columns.get_mut(place).map(change);
    row.columns = columns.into();
}

fn change_columns(row: &mut Row, change: fn(&mut Value)) {
    (0..row.columns.len()).for_each(|place| change_column(row, place, change));
}

fn replace_terms(write: &mut Write, change: fn(&mut Term)) {
    if let Write::Insert { columns, .. } | Write::Put { columns, .. } = write {
        columns.iter_mut().for_each(change);
    }
}

fn end_at_zero(value: &mut Value) {
    if let Value::Text(text) = value {
        *text = text.split('\0').next().unwrap_or_default().into();
    }
}

fn end_at_100_characters(term: &mut Term) {
    if let Term::Value(Value::Text(text)) = term {
        *text = text.chars().take(100).collect::<String>().into();
    }
}

fn double(value: &mut Value) {
    if let Value::Integer(number) = value {
        *number = *number as f64 as i64;
    }
}

fn utf16(value: &Value) -> Vec<u16> {
    value.text().unwrap_or_default().encode_utf16().collect()
}

fn signed(value: &Value) -> Vec<i8> {
    value.bytes().unwrap_or_default().iter().map(|byte| byte.cast_signed()).collect()
}

/// Cuts the first part after so many bytes.
fn cut(row: &mut Row, bytes: usize) {
    let first = row.body.part(0).map(|part| part.chars().take(bytes / 4).collect::<String>());
    row.body = Body::of_texts(vec![first.map(Into::into)]);
}
