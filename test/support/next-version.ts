import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { temporaryDirectory } from './temporary.ts'

const NEXT = '002-made-up.sql'

/** Copies the program into the directory `home`, with one more migration of its state; returns the `main` of the copy. */
export function copyWithMigration(main: string, home: string): string {
  const source = dirname(main)
  const copy = join(home, basename(source))
  mkdirSync(home, { recursive: true })
  for (const name of readdirSync(dirname(source))) {
    if (name !== basename(source)) symlinkSync(join(dirname(source), name), join(home, name))
  }
  cpSync(source, copy, { recursive: true })
  writeFileSync(join(copy, 'store', 'migrations', NEXT), 'ALTER TABLE run ADD COLUMN made_up TEXT;')
  return join(copy, basename(main))
}

/** A copy of the migrations in `directory` with one more, for the test that calls this. */
export function migrationsWith(directory: string, sql: string): string {
  const copy = temporaryDirectory()
  cpSync(directory, copy, { recursive: true })
  writeFileSync(join(copy, NEXT), sql)
  return copy
}
