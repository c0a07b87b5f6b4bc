/** What can be wrong with the surroundings of a process. */
import { FileError, UsageError } from '../../foundation/errors.ts'

/** The working directory; throws UsageError('bad-usage') when it was removed. */
export function findWorkingDirectory(): string {
  try {
    return process.cwd()
  } catch (error) {
    const text = 'Cannot find the working directory, which was removed'
    throw new UsageError('bad-usage', `${text}; change to another one with "cd", then run again`, { cause: error })
  }
}

/** The error for data that stdout does not take. */
export function cannotWrite(error: Error): FileError {
  return new FileError('io-error', `Cannot write to standard output: ${error.message}`, { cause: error })
}
