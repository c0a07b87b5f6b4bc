import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { COMPILE_CACHE } from './test/support/compile-cache.ts'
import { forgetSurroundings } from './test/support/forget-surroundings.ts'
import { MEMORY_DISK } from './test/support/memory-disk.ts'

/** Whole commands as people run them. */
const JOURNEYS = ['test/journeys/**/*.test.ts']
/** What takes its time: load, faults and kills, fleets under outages, packages, a browser. `npm test` leaves it out. */
const SLOW = ['test/slow/**/*.test.ts']
/** Tests that need PostgreSQL share one server. */
const POSTGRES = 'test/support/postgres-server.ts'
/** Processes run the bundle, and have their files in memory: what waits for a disk is `unit`. */
const WHOLE_PROGRAM = {
  globalSetup: ['test/support/memory-disk.ts', 'test/support/use-compiled-program.ts', POSTGRES],
  env: MEMORY_DISK === undefined ? {} : { TMPDIR: MEMORY_DISK },
}

/** A process for each file would spend a good part of its time loading what the last one had loaded. */
const SHARED_PROCESSES = { isolate: false }

forgetSurroundings()

/** What follows `vitest run`: with the name of a folder, a file or a test, slow ones with that name run as well. */
const isNarrowed = process.argv
  .slice(3)
  .some((argument, at, all) => !argument.startsWith('-') && all[at - 1] !== '--mode')

export default defineConfig(({ mode }) => {
  const isQuick = mode !== 'all' && !isNarrowed
  return {
    test: {
      // `vitest run --project unit` runs one of them.
      projects: [
        ...(isQuick ? [] : [{ extends: true as const, test: { name: 'slow', include: SLOW, ...WHOLE_PROGRAM } }]),
        { extends: true, test: { name: 'journeys', include: JOURNEYS, ...SHARED_PROCESSES, ...WHOLE_PROGRAM } },
        {
          extends: true,
          test: {
            name: 'unit',
            include: ['test/**/*.test.ts'],
            exclude: ['**/node_modules/**', ...JOURNEYS, ...SLOW],
            globalSetup: isNarrowed ? POSTGRES : ['test/support/use-compiled-program.ts', POSTGRES],
            setupFiles: isNarrowed ? [] : ['test/support/compiled-threads.ts'],
            ...SHARED_PROCESSES,
          },
        },
      ],
      pool: 'forks',
      // Many tests wait for processes and times: twice as many at a time as there are processors.
      maxWorkers: 2 * availableParallelism(),
      setupFiles: 'test/support/processor-time.ts',
      // Threads of the program compile the sources once for all tests.
      env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
      // What a test waits for may come late on a busy machine.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 30_000 } },
      reporters: ['default', ['./test/reporter.ts', { isQuick }]],
      coverage: {
        provider: 'v8',
        // What decides, what remembers and what uploads: an untested branch here may lose a file or upload it twice.
        include: [
          'src/rules/**/*.ts',
          'src/store/**/*.ts',
          'src/sync/{upload,directories,doubts}/**/*.ts',
          'src/sync/item-failure.ts',
        ],
        reporter: ['text', 'json'],
        reportOnFailure: true,
        // What is left are branches that only a fault of the program takes, and a few that no test takes yet.
        thresholds: { branches: 97 },
      },
    },
  }
})
