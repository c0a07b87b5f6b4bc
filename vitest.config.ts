import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/reporter.ts'],
    coverage: {
      provider: 'v8',
      // What decides, what remembers and what sends: a branch here that no test takes may lose a file or send it twice.
      include: [
        'src/rules/**/*.ts',
        'src/store/**/*.ts',
        'src/sync/{upload,directories,doubts}/**/*.ts',
        'src/sync/item-failure.ts',
      ],
      reporter: ['text', 'json'],
      reportOnFailure: true,
      thresholds: { branches: 99.7 },
    },
  },
})
