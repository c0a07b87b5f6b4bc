import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { createWriteQueue } from '../../../src/embedded/storage/write-queue.ts'

function openQueue() {
  const database = new Database(':memory:')
  database.exec('CREATE TABLE number (value INTEGER PRIMARY KEY)')
  const insert = database.prepare<[number]>('INSERT INTO number (value) VALUES (?)')
  const stored = () => database.prepare('SELECT value FROM number ORDER BY value').pluck().all()
  const queue = createWriteQueue(database)
  return { stored, write: (value: number) => queue.write(() => insert.run(value).changes) }
}

describe('createWriteQueue', () => {
  it('a faulty write is refused and the others are kept', async () => {
    const { write, stored } = openQueue()
    const written = await Promise.allSettled([write(1), write(2), write(1), write(3)])
    expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(stored()).toEqual([1, 2, 3])
  })

  it('more writes than one transaction may hold are all stored', async () => {
    const { write, stored } = openQueue()
    await Promise.all(Array.from({ length: 1_000 }, (_, value) => write(value)))
    expect(stored()).toHaveLength(1_000)
  })
})
