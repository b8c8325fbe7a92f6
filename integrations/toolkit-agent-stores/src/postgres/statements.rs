//! The tables and the statements. Strings are bytes, because `TEXT` cannot contain NUL and depends on the
//! database's encoding.

/// Whether all tables exist, and whether that of the conversations has other columns.
pub(super) const EXIST: &str = "
    SELECT to_regclass('toolkit_conversations') IS NOT NULL AND to_regclass('toolkit_entries') IS NOT NULL
        AND to_regclass('toolkit_inbox') IS NOT NULL AND to_regclass('toolkit_state') IS NOT NULL,
    to_regclass('toolkit_conversations') IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = to_regclass('toolkit_conversations') AND attname = 'summary'
    )";

/// Creates the tables. The lock lasts until the end of the request, one transaction. Without it, programs
/// that start at the same time would fail, because `IF NOT EXISTS` does not see the tables of other
/// transactions.
///
/// A conversation with only an inbox has no row in `toolkit_conversations`.
pub(super) const TABLES: &str = "
    SELECT pg_advisory_xact_lock(8389754676633367905);
    CREATE TABLE IF NOT EXISTS toolkit_conversations (
        user_id BYTEA NOT NULL, id BYTEA NOT NULL, created_at TIMESTAMPTZ NOT NULL,
        saved_at TIMESTAMPTZ NOT NULL, version BIGINT NOT NULL,
        title BYTEA NOT NULL, status TEXT NOT NULL, summary BYTEA NOT NULL,
        PRIMARY KEY (user_id, id)
    );
    CREATE INDEX IF NOT EXISTS toolkit_unfinished ON toolkit_conversations (user_id)
        WHERE status IN ('working', 'waiting');
    CREATE TABLE IF NOT EXISTS toolkit_entries (
        user_id BYTEA NOT NULL, id BYTEA NOT NULL, version BIGINT NOT NULL, first BIGINT NOT NULL,
        entry BYTEA NOT NULL,
        PRIMARY KEY (user_id, id, version),
        FOREIGN KEY (user_id, id) REFERENCES toolkit_conversations ON DELETE CASCADE
    );
    CREATE TABLE IF NOT EXISTS toolkit_inbox (
        number BIGINT GENERATED ALWAYS AS IDENTITY, user_id BYTEA NOT NULL, id BYTEA NOT NULL,
        name BYTEA NOT NULL, content BYTEA NOT NULL,
        PRIMARY KEY (user_id, id, number)
    );
    CREATE UNIQUE INDEX IF NOT EXISTS toolkit_inbox_names ON toolkit_inbox (user_id, id, sha256(name));
    CREATE TABLE IF NOT EXISTS toolkit_state (
        scope TEXT NOT NULL, owner BYTEA NOT NULL, key BYTEA NOT NULL, value BYTEA NOT NULL,
        PRIMARY KEY (scope, owner, key)
    );";

/// Writes the first save of a log, and deletes what it takes of the inbox.
pub(super) const CREATE: &str = "
    WITH saved AS (
        INSERT INTO toolkit_conversations
        VALUES ($1, $2, clock_timestamp(), clock_timestamp(), $4, $6, $7, $8)
        ON CONFLICT DO NOTHING RETURNING version
    ), taken AS (
        DELETE FROM toolkit_inbox
        WHERE user_id = $1 AND id = $2 AND number = ANY($9) AND EXISTS (SELECT FROM saved)
    )
    INSERT INTO toolkit_entries SELECT $1, $2, version, $5, $3 FROM saved RETURNING version";

/// Appends a save with the version `$4` if the log has the version `$10`. Of two concurrent appends, the
/// second waits for the row's lock and finds another version.
pub(super) const APPEND: &str = "
    WITH saved AS (
        UPDATE toolkit_conversations
        SET version = $4, saved_at = clock_timestamp(), title = $6, status = $7, summary = $8
        WHERE user_id = $1 AND id = $2 AND version = $10 RETURNING version
    ), taken AS (
        DELETE FROM toolkit_inbox
        WHERE user_id = $1 AND id = $2 AND number = ANY($9) AND EXISTS (SELECT FROM saved)
    )
    INSERT INTO toolkit_entries SELECT $1, $2, version, $5, $3 FROM saved RETURNING version";

/// Replaces all entries by one with the version `$4` if the log has the version `$10`.
pub(super) const REPLACE: &str = "
    WITH saved AS (
        UPDATE toolkit_conversations
        SET version = $4, saved_at = clock_timestamp(), title = $6, status = $7, summary = $8
        WHERE user_id = $1 AND id = $2 AND version = $10 RETURNING version
    ), removed AS (
        DELETE FROM toolkit_entries WHERE user_id = $1 AND id = $2 AND EXISTS (SELECT FROM saved)
    ), emptied AS (
        DELETE FROM toolkit_inbox WHERE user_id = $1 AND id = $2 AND EXISTS (SELECT FROM saved)
    )
    INSERT INTO toolkit_entries SELECT $1, $2, version, $5, $3 FROM saved RETURNING version";

/// A conversation has at least one entry. The last entry's version is the log's.
pub(super) const LOAD: &str =
    "SELECT entry, version FROM toolkit_entries WHERE user_id = $1 AND id = $2 ORDER BY version";

/// Reads backwards only what it returns.
pub(super) const LOAD_FROM: &str = "
    SELECT entry, version FROM toolkit_entries WHERE user_id = $1 AND id = $2 AND version >= coalesce((
        SELECT version FROM toolkit_entries WHERE user_id = $1 AND id = $2 AND first <= $3
        ORDER BY version DESC LIMIT 1
    ), 0) ORDER BY version";

pub(super) const VERSIONS: &str = "
    SELECT version FROM toolkit_entries WHERE user_id = $1 AND id = $2 AND version >= $3
    ORDER BY version DESC";

pub(super) const LIST: &str = "
    SELECT user_id, id, (
        SELECT count(*) FROM toolkit_inbox AS items WHERE items.user_id = listed.user_id AND items.id = listed.id
    ), summary, created_at, saved_at
    FROM toolkit_conversations AS listed WHERE user_id = $1 ORDER BY saved_at DESC, id";

pub(super) const UNFINISHED: &str = "
    WITH listed AS (
        SELECT user_id, id FROM toolkit_conversations
        WHERE status IN ('working', 'waiting') AND ($1 IS NULL OR user_id = $1)
        UNION SELECT user_id, id FROM toolkit_inbox WHERE $1 IS NULL OR user_id = $1
    )
    SELECT user_id, id, (
        SELECT count(*) FROM toolkit_inbox AS items WHERE items.user_id = listed.user_id AND items.id = listed.id
    ), summary, created_at, saved_at
    FROM listed LEFT JOIN toolkit_conversations USING (user_id, id) ORDER BY saved_at NULLS FIRST, id";

pub(super) const DELETE: &str = "
    WITH emptied AS (DELETE FROM toolkit_inbox WHERE user_id = $1 AND id = $2)
    DELETE FROM toolkit_conversations WHERE user_id = $1 AND id = $2 RETURNING true";

/// Adds an item, or returns that of the same name. The update changes nothing, but locks and returns the
/// row of a concurrent statement, too.
pub(super) const PUT: &str = "
    INSERT INTO toolkit_inbox AS items (user_id, id, name, content) VALUES ($1, $2, $3, $4)
    ON CONFLICT (user_id, id, sha256(name)) DO UPDATE SET content = items.content RETURNING number, content";

pub(super) const INBOX: &str =
    "SELECT number, content, name FROM toolkit_inbox WHERE user_id = $1 AND id = $2 ORDER BY number";

pub(super) const TAKE: &str =
    "DELETE FROM toolkit_inbox WHERE user_id = $1 AND id = $2 AND number = $3 RETURNING true";

pub(super) const LOAD_STATE: &str = "SELECT key, value FROM toolkit_state WHERE scope = $1 AND owner = $2";

pub(super) const UPDATE_STATE: &str = "
    WITH removed AS (DELETE FROM toolkit_state WHERE scope = $1 AND owner = $2 AND key = ANY($5))
    INSERT INTO toolkit_state SELECT $1, $2, key, value FROM unnest($3, $4) AS changed (key, value)
    ON CONFLICT (scope, owner, key) DO UPDATE SET value = EXCLUDED.value";
