import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { unpackBytes } from '../../src/embedded/contents/packed-bytes.ts'
import { contentDirOf, contentPath } from '../../src/embedded/database/read-contents.ts'

const MIGRATIONS = join(import.meta.dirname, '../../src/embedded/database/migrations')
/** Before the words of the index were prepared; before contents and texts were compressed. */
type OlderVersion = 3 | 5

/** Puts the data of a stopped library into a database of an earlier schema, and its larger contents into files as they are. */
export function takeBack(dataDir: string, version: OlderVersion): void {
  unpackFiles(join(dataDir, 'files'))
  const file = join(dataDir, 'library.sqlite')
  renameSync(file, `${file}.new`)
  const database = new Database(file)
  database.function('unpacked', (bytes, sizeBytes) =>
    Buffer.isBuffer(bytes) && typeof sizeBytes === 'number' ? unpackBytes(bytes, sizeBytes) : null,
  )
  database.function('large_text', (sha256, offset, length) =>
    Buffer.isBuffer(sha256) && typeof offset === 'number' && typeof length === 'number'
      ? readFileSync(contentPath(contentDirOf(file), sha256))
          .subarray(offset, offset + length)
          .toString()
      : null,
  )
  for (const name of readdirSync(MIGRATIONS).sort()) {
    if (Number(name.slice(0, 3)) <= version) database.exec(readFileSync(join(MIGRATIONS, name), 'utf8'))
  }
  database.exec(`
    PRAGMA foreign_keys = OFF;
    ATTACH '${file}.new' AS new;
    DELETE FROM setting;
    ${['setting', 'token', 'token_library', 'directory'].map((table) => `INSERT INTO ${table} SELECT * FROM new.${table};`).join('\n')}
    INSERT INTO library SELECT id, public_id, name, overview, created_at_ms, updated_at_ms FROM new.library;
    INSERT INTO resource (id, public_id, library_id, sha256, mime_type, size_bytes, title, status, warnings, failure,
        abstract, created_at_ms, text_type, properties)
      SELECT id, lower(hex(public_id)), library_id, sha256, mime_type, size_bytes, title, status, coalesce(warnings, '[]'), failure,
        'from an earlier version', created_at_ms, coalesce(text_type, 'text/plain'), coalesce(properties, '{}') FROM new.resource;
    INSERT INTO small_content SELECT resource_id, unpacked(bytes, size_bytes)
      FROM new.small_content JOIN new.resource ON resource.id = resource_id;
    INSERT INTO small_content
      SELECT resource.id, substr(unpacked(bytes, content_block.size_bytes), block_start + 1, resource.size_bytes)
      FROM new.resource JOIN new.content_block ON content_block.id = block_id;
    INSERT INTO location (directory_id, filename, slug, title, resource_id)
      SELECT directory_id, filename, replace(filename, '.txt', ''), coalesce(nullif(title, ''), filename), resource_id FROM new.location;
    INSERT INTO passage (id, resource_id, ordinal, text, unit, first_unit, last_unit, detail)
      SELECT passage.id, passage.resource_id, ordinal, coalesce(
          CAST(unpacked(passage_text.bytes, passage_text.size_bytes) AS TEXT),
          CAST(substr(small_content.bytes, content_offset + 1, content_length) AS TEXT),
          large_text(sha256, content_offset, content_length), ''),
        unit, first_unit, last_unit, detail
      FROM new.passage LEFT JOIN new.passage_text ON passage_id = passage.id
        LEFT JOIN main.small_content ON small_content.resource_id = passage.resource_id
        JOIN new.resource ON resource.id = passage.resource_id;
    PRAGMA application_id = 0x6b6c6962;
    PRAGMA user_version = ${version};
  `)
  database.close()
}

function unpackFiles(contentDir: string): void {
  for (const name of readdirSync(contentDir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.zst')) continue
    const packed = join(contentDir, name)
    writeFileSync(packed.replace(/\.zst$/, ''), zstdDecompressSync(readFileSync(packed)))
    rmSync(packed)
  }
}
