/** Prints the packages of Debian that bring the programs which tests would lack here, one a line. */
import { missingOf, PROGRAMS, packagesOf } from '../test/support/programs.ts'

process.stdout.write(
  packagesOf(missingOf(PROGRAMS))
    .map((name) => `${name}\n`)
    .join(''),
)
