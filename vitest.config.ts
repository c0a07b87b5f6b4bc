import { defineConfig } from 'vitest/config'
import { COMPILE_CACHE } from './test/support/compile-cache.ts'

/** Whole commands as people run them, and pages in a browser. */
const JOURNEYS = ['test/journeys/**/*.test.ts', 'test/package/**/*.test.ts', 'test/web/**/*.test.ts']
/** The program under load, faults and kills, for a minute and more. */
const ENDURANCE = ['test/endurance/**/*.test.ts']
/** Processes run the bundle. */
const COMPILED = 'test/support/use-compiled-program.ts'

export default defineConfig({
  test: {
    // `vitest run --project unit` runs one of them.
    projects: [
      { extends: true, test: { name: 'endurance', include: ENDURANCE, globalSetup: COMPILED } },
      { extends: true, test: { name: 'journeys', include: JOURNEYS, globalSetup: COMPILED } },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...JOURNEYS, ...ENDURANCE],
        },
      },
    ],
    pool: 'forks',
    // Most tests wait for processes and disks: two at a time also on a machine of two cores.
    maxWorkers: '100%',
    // Threads of the program compile the sources once for all tests.
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
    // What a test waits for may come late on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', './test/reporter.ts'],
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
      thresholds: { branches: 100 },
    },
  },
})
