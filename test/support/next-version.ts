import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { temporaryDirectory } from './temporary.ts'

/** Copies the program into the directory `home`, with one more migration of its state; returns the `main` of the copy. */
export function copyWithMigration(main: string, home: string): string {
  const source = dirname(main)
  const copy = join(home, basename(source))
  mkdirSync(home, { recursive: true })
  for (const name of readdirSync(dirname(source))) {
    if (name !== basename(source)) symlinkSync(join(dirname(source), name), join(home, name))
  }
  cpSync(source, copy, { recursive: true })
  addMigration(join(copy, 'store', 'migrations'), 'ALTER TABLE run ADD COLUMN made_up TEXT;')
  return join(copy, basename(main))
}

/** A copy of the migrations in `directory` with one more, for the test that calls this. */
export function migrationsWith(directory: string, sql: string): string {
  const copy = temporaryDirectory()
  cpSync(directory, copy, { recursive: true })
  addMigration(copy, sql)
  return copy
}

function addMigration(directory: string, sql: string): void {
  const numbers = readdirSync(directory).map((name) => Number(name.slice(0, 3)))
  const next = String(Math.max(...numbers) + 1).padStart(3, '0')
  writeFileSync(join(directory, `${next}-made-up.sql`), sql)
}
