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
        db.execute_batch(&self.statements()).unwrap();
    }

    pub fn postgres(&self, url: &str) {
        let (_, schema) = url.split_once("schema=").unwrap();
        let zeros = "decode(repeat('00', 352), 'hex')";
        let statements = self.statements().replace("zeroblob(352)", zeros);
        POSTGRES.psql(&format!("SET search_path TO {schema}; {statements}"));
    }

    /// The statements on the tables, which SQLite and PostgreSQL generate alike.
    fn statements(&self) -> String {
        match self {
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
        }
    }

    pub fn redis(&self, redis: &Server) {
        const KEYS: &str = "
        local key = 'swarm:{default}:'
        local records, transient = key .. 'records', key .. 'transient'
        local log = redis.call('LRANGE', key .. 'log', 0, -1)
        local function replaced(text)
          local from = string.gsub(ARGV[1], '%p', '%%%0')
          return (string.gsub(text, from, ARGV[2]))
        end
        local function number(it) return it == 0 and '\\24' or it < 256 and string.char(25, it) or struct.pack('>BI2', 26, it) end
        -- What stands for the names of tables and indexes.
        local takes, sessions, tiles, trees = '\\222\\020', '\\096\\201', '\\161\\220', '\\249\\113'
        local by_session, by_revision, by_nonce = '\\207\\059', '\\135\\184', '\\067\\135'
        local function row(take)
          for place, row in ipairs(log) do
            if string.sub(row, 18, 17 + string.byte(row, 17)) == takes .. number(take) then return place, row end
          end
        end
        local function delete_take(id)
          redis.call('HDEL', records, takes .. number(id), takes .. number(id) .. '\\254')
        end
        local tile = tiles .. number(1) .. number(0) .. number(0)\n";
        let run = |script: &str, arguments: &[&str]| {
            let script = format!("{KEYS}{script}");
            let said = redis.cli(&[&["EVAL", &script, "0"], arguments].concat());
            assert_eq!(said.trim(), "done");
        };
        match self {
        Edit::TakeDeleted => run("delete_take(2) return 'done'", &[]),
        Edit::TakeAndEntryDeleted => run(
            "local _, row = row(2)
            delete_take(2)
            local ending = number(2) .. '\\0\\2'
            for _, entry in ipairs(redis.call('ZRANGE', key .. 'order', 0, -1)) do
              local index = string.sub(entry, 1, 2)
              local is_of_take = (index == by_session or index == by_revision) and string.sub(entry, -4) == ending
              if is_of_take then redis.call('ZREM', key .. 'order', entry) end
            end
            for _, field in ipairs(redis.call('HKEYS', records)) do
              local is_of_take = string.sub(field, 1, 2) == by_nonce and redis.call('HGET', records, field) == number(2)
              if is_of_take then redis.call('HDEL', records, field) end
            end
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
            "for place, row in ipairs(log) do
              local at = 18 + string.byte(row, 17)
              for _ = 1, 3 do
                local kind = string.byte(row, at) or 0
                at = at + 1 + (kind == 0 and 0 or math.abs(kind - 24))
              end
              redis.call('LSET', key .. 'log', place - 1, string.sub(row, 1, at) .. replaced(string.sub(row, at + 1)))
            end
            return 'done'",
            &[from, to],
        ),
        Edit::RecordReworded(from, to) => run(
            "local field = sessions .. number(1) .. '\\254'
            local stored = redis.call('HGET', records, field)
            local edited, at = '', 1
            while at <= #stored do
              local kind = string.byte(stored, at)
              if kind == 0 then
                edited, at = edited .. '\\0', at + 1
              else
                local first = kind == 48 and at + 1 or at
                local size = string.byte(stored, first) - 24
                local length = size == 0 and 0 or struct.unpack('>I' .. size, stored, first + 1)
                at = first + 1 + size
                if kind == 48 then
                  edited = edited .. '\\48' .. number(length)
                else
                  local text = replaced(string.sub(stored, at, at + length - 1))
                  edited, at = edited .. number(#text) .. text, at + length
                end
              end
            end
            redis.call('HSET', records, field, edited)
            for _, field in ipairs(redis.call('HKEYS', key .. 'parts')) do
              redis.call('HSET', key .. 'parts', field, replaced(redis.call('HGET', key .. 'parts', field)))
            end
            return 'done'",
            &[from, to],
        ),
        Edit::TileDeleted => run("redis.call('HDEL', transient, tile) return 'done'", &[]),
        Edit::TileZeroed => run(
            "local stored = redis.call('HGET', transient, tile)
            local hashes = '\\49' .. string.rep('\\0\\255', 352) .. '\\0'
            redis.call('HSET', transient, tile, string.sub(stored, 1, 3) .. hashes)
            return 'done'",
            &[],
        ),
        Edit::TileAndTreeDeleted => run(
            "for _, field in ipairs(redis.call('HKEYS', transient)) do
              local table = string.sub(field, 1, 2)
              if table == tiles or table == trees then redis.call('HDEL', transient, field) end
            end
            return 'done'",
            &[],
        ),
    }
    }
}
