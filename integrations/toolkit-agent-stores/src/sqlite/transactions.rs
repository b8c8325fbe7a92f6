//! The tables, and what the thread does with them in a transaction.

use rusqlite::types::{FromSql, Type};
use rusqlite::{OptionalExtension, Row, Transaction, params};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolkit_agent::session::{ConversationInfo, ConversationLog, InboxItem};
use toolkit_core::context::SessionDelta;

/// A conversation with only an inbox has no row in `conversations`. The numbers of its items are those of
/// all items so far.
pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS conversations (
        number INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, id TEXT NOT NULL,
        created_at INTEGER NOT NULL, saved_at INTEGER NOT NULL, version INTEGER NOT NULL,
        title TEXT NOT NULL, status TEXT NOT NULL, summary TEXT NOT NULL,
        UNIQUE (user_id, id)
    );
    CREATE INDEX IF NOT EXISTS unfinished ON conversations (user_id, id)
        WHERE status IN ('working', 'waiting');
    CREATE TABLE IF NOT EXISTS entries (
        conversation INTEGER NOT NULL, version INTEGER NOT NULL, first INTEGER NOT NULL, entry TEXT NOT NULL,
        PRIMARY KEY (conversation, version)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS inbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, id TEXT NOT NULL,
        name TEXT NOT NULL, content TEXT NOT NULL,
        UNIQUE (user_id, id, name)
    );
    CREATE TABLE IF NOT EXISTS state (
        scope TEXT NOT NULL, owner TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (scope, owner, key)
    ) WITHOUT ROWID;";

/// Whether the database has a table of conversations with other columns.
pub(super) const IS_FOREIGN: &str = "SELECT EXISTS (SELECT 1 FROM pragma_table_info('conversations'))
    AND NOT EXISTS (SELECT 1 FROM pragma_table_info('conversations') WHERE name = 'summary')";

/// The columns of a list. `c` has the key of the conversation.
const INFO: &str = "SELECT c.user_id, c.id, summary, created_at, saved_at,
    (SELECT count(*) FROM inbox WHERE inbox.user_id = c.user_id AND inbox.id = c.id)";

const FIND: &str = "SELECT number, version FROM conversations WHERE user_id = ?1 AND id = ?2";

/// A change of a log, for the thread.
pub(super) struct Change {
    pub(super) key: [String; 2],
    pub(super) version: u64,
    pub(super) first: i64,
    pub(super) entries: String,
    pub(super) title: Arc<str>,
    pub(super) status: &'static str,
    pub(super) summary: String,
    pub(super) taken: Vec<u64>,
    pub(super) is_replacement: bool,
}

/// Adds a save to a log, or replaces all saves by it. Returns the new version; `None` if the log has another
/// one.
pub(super) fn change_log(transaction: &Transaction<'_>, change: &Change) -> rusqlite::Result<Option<u64>> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    let [user, id] = &change.key;
    let Some((number, latest)) = find(transaction, change, now)? else { return Ok(None) };
    if change.is_replacement {
        transaction.execute("DELETE FROM entries WHERE conversation = ?1", [number])?;
        transaction.execute("DELETE FROM inbox WHERE user_id = ?1 AND id = ?2", [user, id])?;
    }
    let mut statement = transaction.prepare("INSERT INTO entries VALUES (?1, ?2, ?3, ?4)")?;
    statement.execute(params![number, latest + 1, change.first, change.entries])?;
    let sql = "UPDATE conversations SET version = ?2, saved_at = ?3, title = ?4, status = ?5, summary = ?6
        WHERE number = ?1";
    let values = params![number, latest + 1, now, change.title, change.status, change.summary];
    transaction.prepare(sql)?.execute(values)?;
    for item in &change.taken {
        take_item(transaction, &change.key, *item)?;
    }
    Ok(Some(version_of(number, latest + 1)))
}

/// Reads a log, or its saves from the one with the entry number `from` on.
pub(super) fn read_log(
    transaction: &Transaction<'_>,
    key: [String; 2],
    from: Option<u64>,
) -> rusqlite::Result<Option<ConversationLog>> {
    let found = transaction.prepare(FIND)?.query_row(key, two_columns).optional()?;
    let Some((number, version)) = found else { return Ok(None) };
    let begin: Option<i64> = match from {
        Some(from) => {
            // Reads backwards only what is loaded.
            let sql = "SELECT version FROM entries WHERE conversation = ?1 AND first <= ?2
                ORDER BY version DESC LIMIT 1";
            let values = params![number, i64::try_from(from).unwrap_or(i64::MAX)];
            transaction.prepare(sql)?.query_row(values, |row| row.get(0)).optional()?
        }
        None => None,
    };
    let sql = "SELECT entry FROM entries WHERE conversation = ?1 AND version >= ?2 ORDER BY version";
    let mut statement = transaction.prepare(sql)?;
    let values = [number, begin.unwrap_or(0)];
    let entries = statement.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(Some(ConversationLog::new(entries, version_of(number, version))))
}

pub(super) fn read_list(
    transaction: &Transaction<'_>,
    user: &str,
) -> rusqlite::Result<Vec<ConversationInfo>> {
    let sql = format!("{INFO} FROM conversations AS c WHERE user_id = ?1 ORDER BY saved_at DESC, id");
    let mut statement = transaction.prepare(&sql)?;
    statement.query_map([user], info)?.collect()
}

pub(super) fn read_unfinished(
    transaction: &Transaction<'_>,
    user: Option<&str>,
) -> rusqlite::Result<Vec<ConversationInfo>> {
    let sql = unfinished_sql(user.is_some());
    let mut statement = transaction.prepare(&sql)?;
    statement.query_map([user], info)?.collect()
}

fn unfinished_sql(is_of_user: bool) -> String {
    let of_user = if is_of_user { "user_id = ?1" } else { "?1 IS NULL" };
    format!(
        "WITH keys AS (
            SELECT user_id, id FROM conversations WHERE status IN ('working', 'waiting') AND {of_user}
            UNION SELECT user_id, id FROM inbox WHERE {of_user}
        )
        {INFO} FROM keys AS c LEFT JOIN conversations USING (user_id, id) ORDER BY saved_at, id"
    )
}

/// Reads a row of [`INFO`].
fn info(row: &Row<'_>) -> rusqlite::Result<ConversationInfo> {
    use rusqlite::Error::FromSqlConversionFailure;

    let info = ConversationInfo::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?)
        .with_inbox(usize::try_from(row.get::<_, i64>(5)?).unwrap_or_default());
    // Without a log, there is nothing but the inbox.
    let Some(json) = row.get::<_, Option<String>>(2)? else { return Ok(info) };
    let read = serde_json::from_str(&json);
    let summary = read.map_err(|error| FromSqlConversionFailure(2, Type::Text, Box::new(error)))?;
    Ok(info.with_summary(summary).with_created_at(time(row.get(3)?)).with_saved_at(time(row.get(4)?)))
}

fn time(micros: i64) -> SystemTime {
    let since = Duration::from_micros(u64::try_from(micros).unwrap_or_default());
    UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
}

/// Adds an item to an inbox, unless it has one of this name. Returns the item of this name.
pub(super) fn put_item(
    transaction: &Transaction<'_>,
    [user, id]: [String; 2],
    name: String,
    content: &str,
) -> rusqlite::Result<InboxItem> {
    let sql = "INSERT INTO inbox (user_id, id, name, content) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    transaction.prepare(sql)?.execute([&user, &id, &name, content])?;
    let sql = "SELECT number, content FROM inbox WHERE user_id = ?1 AND id = ?2 AND name = ?3";
    let (number, content) =
        transaction.prepare(sql)?.query_row([&user, &id, &name], two_columns::<i64, _>)?;
    Ok(InboxItem { number: number.cast_unsigned(), name, content })
}

pub(super) fn read_inbox(
    transaction: &Transaction<'_>,
    key: [String; 2],
) -> rusqlite::Result<Vec<InboxItem>> {
    let sql = "SELECT number, name, content FROM inbox WHERE user_id = ?1 AND id = ?2 ORDER BY number";
    let mut statement = transaction.prepare(sql)?;
    statement.query_map(key, item)?.collect()
}

fn item(row: &Row<'_>) -> rusqlite::Result<InboxItem> {
    let number = row.get::<_, i64>(0)?.cast_unsigned();
    Ok(InboxItem { number, name: row.get(1)?, content: row.get(2)? })
}

pub(super) fn take_item(
    transaction: &Transaction<'_>,
    [user, id]: &[String; 2],
    number: u64,
) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM inbox WHERE user_id = ?1 AND id = ?2 AND number = ?3";
    Ok(transaction.prepare(sql)?.execute(params![user, id, number.cast_signed()])? > 0)
}

pub(super) fn delete_log(transaction: &Transaction<'_>, key: [String; 2]) -> rusqlite::Result<bool> {
    transaction.execute("DELETE FROM inbox WHERE user_id = ?1 AND id = ?2", [&key[0], &key[1]])?;
    let of_entries = "DELETE FROM entries WHERE conversation IN
        (SELECT number FROM conversations WHERE user_id = ?1 AND id = ?2)";
    transaction.execute(of_entries, [&key[0], &key[1]])?;
    let of_conversation = "DELETE FROM conversations WHERE user_id = ?1 AND id = ?2";
    Ok(transaction.execute(of_conversation, key)? > 0)
}

pub(super) fn read_state(
    transaction: &Transaction<'_>,
    scope: [String; 2],
) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT key, value FROM state WHERE scope = ?1 AND owner = ?2";
    let mut statement = transaction.prepare(sql)?;
    statement.query_map(scope, two_columns)?.collect()
}

pub(super) fn write_state(
    transaction: &Transaction<'_>,
    [scope, owner]: &[String; 2],
    changes: SessionDelta,
) -> rusqlite::Result<()> {
    for (key, value) in changes {
        match value {
            Some(value) => transaction.execute(
                "INSERT OR REPLACE INTO state VALUES (?1, ?2, ?3, ?4)",
                params![scope, owner, key, value.to_string()],
            )?,
            None => transaction.execute(
                "DELETE FROM state WHERE scope = ?1 AND owner = ?2 AND key = ?3",
                params![scope, owner, key],
            )?,
        };
    }
    Ok(())
}

/// Finds a conversation of the change's version, or creates it for version 0. Returns its number and its last
/// save's version.
fn find(transaction: &Transaction<'_>, change: &Change, now: i64) -> rusqlite::Result<Option<(i64, i64)>> {
    let [user, id] = &change.key;
    if change.version == 0 {
        let sql =
            "INSERT INTO conversations (user_id, id, created_at, saved_at, version, title, status, summary)
            VALUES (?1, ?2, ?3, ?3, 0, '', '', '') ON CONFLICT DO NOTHING";
        let created = transaction.prepare(sql)?.execute(params![user, id, now])?;
        return Ok(if created > 0 { Some((transaction.last_insert_rowid(), 0)) } else { None });
    }
    let found = transaction.prepare(FIND)?.query_row([user, id], two_columns).optional()?;
    Ok(found.filter(|(number, latest)| version_of(*number, *latest) == change.version))
}

fn two_columns<A: FromSql, B: FromSql>(row: &Row<'_>) -> rusqlite::Result<(A, B)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Returns a log's version, with the conversation's number in it, so that a recreated conversation has other
/// versions.
fn version_of(number: i64, version: i64) -> u64 {
    (number.cast_unsigned() << 32) | (version.cast_unsigned() & u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn unfinished_conversations_are_found_by_the_index() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(TABLES).unwrap();
        for is_of_user in [false, true] {
            let sql = format!("EXPLAIN QUERY PLAN {}", unfinished_sql(is_of_user));
            let mut statement = connection.prepare(&sql).unwrap();
            let rows = statement.query_map([None::<String>], |row| row.get(3)).unwrap();
            let steps: Vec<String> = rows.map(Result::unwrap).collect();
            assert!(steps.iter().any(|step| step.contains("INDEX unfinished")), "{steps:#?}");
            assert!(!steps.iter().any(|step| step == "SCAN conversations"), "{steps:#?}");
        }
    }
}
