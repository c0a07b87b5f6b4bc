import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['test/rules/**/*.test.ts'], setupFiles: ['test/instruments/mutants/setup.ts'] },
})
