/** What tests use of the program in their own process; bundled beside it, so that it shares all modules with `main`. */
export { runCli } from '../../src/cli/run-cli.ts'
export { InterruptedError } from '../../src/foundation/errors.ts'
