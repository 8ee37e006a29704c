//! Edits of a store by hand.

use rusqlite::Connection;
use swarm_redis_testing::Server;
use tempfile::TempDir;

use crate::backend::POSTGRES;

/// What is done to a store.
pub enum Edit {
    /// A take is deleted, its entry is not.
    TakeDeleted,
    TakeAndEntryDeleted,
    /// The entries of takes 1 and 2 are swapped.
    EntriesSwapped,
    EntriesReworded(&'static str, &'static str),
    RecordReworded(&'static str, &'static str),
    /// The one tile, of 11 hashes.
    TileDeleted,
    TileZeroed,
    TileAndTreeDeleted,
}

impl Edit {
    pub fn sqlite(&self, folder: &TempDir) {
        let db = Connection::open(folder.path().join("swarm.db")).unwrap();
        let statements = match self {
            Edit::TakeDeleted => "DELETE FROM takes WHERE id = 2".to_owned(),
            Edit::TakeAndEntryDeleted => "DELETE FROM takes WHERE id = 2;
                DELETE FROM log WHERE refers = 'takes' AND record = 2"
                .to_owned(),
            Edit::EntriesSwapped => {
                "UPDATE log SET record = 3 - record WHERE refers = 'takes'".to_owned()
            }
            Edit::EntriesReworded(from, to) => {
                format!("UPDATE log SET entry = replace(entry, '{from}', '{to}')")
            }
            Edit::RecordReworded(from, to) => format!(
                "UPDATE sessions SET roster = replace(roster, '{from}', '{to}'),
                    snapshot = replace(snapshot, '{from}', '{to}')"
            ),
            Edit::TileDeleted => "DELETE FROM tiles".to_owned(),
            Edit::TileZeroed => "UPDATE tiles SET hashes = zeroblob(352)".to_owned(),
            Edit::TileAndTreeDeleted => "DELETE FROM tiles; DELETE FROM trees".to_owned(),
        };
        db.execute_batch(&statements).unwrap();
    }

    pub fn postgres(&self, url: &str) {
        let (_, schema) = url.split_once("schema=").unwrap();
        let mut statements =
            self.statements().replace("zeroblob(352)", "decode(repeat('00', 352), 'hex')");
        if let Edit::RecordReworded(from, to) = self {
            statements +=
                &format!("; UPDATE snapshots SET record = replace(record, '{from}', '{to}')");
        }
        POSTGRES.psql(&format!("SET search_path TO {schema}; {statements}"));
    }

    fn statements(&self) -> String {
        match self {
            Edit::TakeDeleted => "DELETE FROM takes WHERE id = 2".to_owned(),
            Edit::TakeAndEntryDeleted => {
                "DELETE FROM takes WHERE id = 2; DELETE FROM log WHERE take = 2".to_owned()
            }
            Edit::EntriesSwapped => {
                "UPDATE log SET take = 3 - take WHERE take IS NOT NULL".to_owned()
            }
            Edit::EntriesReworded(from, to) => {
                format!("UPDATE log SET act = replace(act, '{from}', '{to}') WHERE act IS NOT NULL")
            }
            Edit::RecordReworded(from, to) => {
                format!("UPDATE sessions SET record = replace(record, '{from}', '{to}')")
            }
            Edit::TileDeleted => "DELETE FROM tiles".to_owned(),
            Edit::TileZeroed => "UPDATE tiles SET hashes = zeroblob(352)".to_owned(),
            Edit::TileAndTreeDeleted => "DELETE FROM tiles; DELETE FROM trees".to_owned(),
        }
    }

    pub fn redis(&self, redis: &Server) {
        const KEYS: &str = "
        local key = 'swarm:{default}:'
        local log = redis.call('LRANGE', key .. 'log', 0, -1)
        local function replaced(text)
          local from = string.gsub(ARGV[1], '%p', '%%%0')
          return (string.gsub(text, from, ARGV[2]))
        end
        local function row(take)
          for place, row in ipairs(log) do
            if string.find(row, '^t ' .. take .. ' ') then return place, row end
          end
        end\n";
        let run = |script: &str, arguments: &[&str]| {
            let script = format!("{KEYS}{script}");
            let said = redis.cli(&[&["EVAL", &script, "0"], arguments].concat());
            assert_eq!(said.trim(), "done");
        };
        match self {
        Edit::TakeDeleted => run("redis.call('HDEL', key .. 'takes', 2) return 'done'", &[]),
        Edit::TakeAndEntryDeleted => run(
            "local _, row = row(2)
            redis.call('HDEL', key .. 'takes', 2)
            redis.call('LREM', key .. 'session:1:takes', 1, 2)
            redis.call('LREM', key .. 'log', 1, row)
            return 'done'",
            &[],
        ),
        Edit::EntriesSwapped => run(
            "local one, first = row(1)
            local other, second = row(2)
            redis.call('LSET', key .. 'log', one - 1, second)
            redis.call('LSET', key .. 'log', other - 1, first)
            return 'done'",
            &[],
        ),
        Edit::EntriesReworded(from, to) => run(
            "for place, row in ipairs(log) do redis.call('LSET', key .. 'log', place - 1, replaced(row)) end
            local acts = redis.call('HGET', key .. 'log:sessions', 1)
            redis.call('HSET', key .. 'log:sessions', 1, replaced(acts))
            return 'done'",
            &[from, to],
        ),
        Edit::RecordReworded(from, to) => run(
            "local session = redis.call('HGET', key .. 'sessions', 1)
            redis.call('HSET', key .. 'sessions', 1, replaced(session))
            return 'done'",
            &[from, to],
        ),
        Edit::TileDeleted => run("redis.call('HDEL', key .. 'log:tree', '1:0:0') return 'done'", &[]),
        Edit::TileZeroed => run(
            "redis.call('HSET', key .. 'log:tree', '1:0:0', string.rep('\\0', 352)) return 'done'",
            &[],
        ),
        Edit::TileAndTreeDeleted => run("redis.call('DEL', key .. 'log:tree') return 'done'", &[]),
    }
    }
}
