import { FileError, UsageError } from '../../foundation/errors.ts'
import { wrapLines } from '../render/layout.ts'

export type StopListener = (isLast: boolean) => void

/** Everything outside of the program that a command uses, so that tests can run commands in their own process. */
export interface CliIo {
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean }
  /** Replaces the commands in a text by what is typed in a checkout; absent where `shelfd` is installed. */
  readonly asTyped?: ((text: string) => string) | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The user of this process; undefined where users have no numbers (Windows). */
  readonly uid: number | undefined
  /** The home directory; '' for a user without one. */
  readonly home: string
  /** Aborted with an InterruptedError when the user or the system asks to stop. */
  readonly signal: AbortSignal
  /** Calls `listener` when a stop is requested, and again, with true, before a second request ends the process. */
  readonly onStop?: (listener: StopListener) => Disposable
  /** Ends the process with the code that `listener` returns. */
  readonly onCrash?: (listener: (error: unknown) => Promise<number>) => void
  /** Absent where there is no SIGHUP. */
  readonly onHangup?: (listener: () => void) => Disposable
}

/** Columns of the terminal on stdout or stderr; undefined for a file or a pipe. */
export function columnsOf(io: CliIo, stream: 'stdout' | 'stderr' = 'stdout'): number | undefined {
  const { [stream]: output, isTerminal } = io
  const columns = isTerminal[stream] && 'columns' in output ? output.columns : undefined
  return typeof columns === 'number' && columns > 0 ? columns : undefined
}

/** Returns a function that applies `asTyped` to a text and wraps it on a terminal. */
export function formatterFor(io: CliIo, stream: 'stdout' | 'stderr'): (text: string) => string {
  const { asTyped = (text) => text } = io
  const columns = columnsOf(io, stream)
  return (text) => (columns === undefined ? asTyped(text) : wrapLines(asTyped(text), columns))
}

/** Returns whether the terminal shows symbols such as ✓; the Linux console and terminals with old locales do not. */
export function showsSymbols({ isTerminal, env }: Pick<CliIo, 'isTerminal' | 'env'>): boolean {
  if (!isTerminal.stdout || env.TERM === 'dumb' || env.TERM === 'linux') return false
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG
  return process.platform === 'win32' || process.platform === 'darwin' || /utf-?8/i.test(locale ?? '')
}

/** Returns the working directory; throws UsageError('bad-usage') when it was removed. */
export function findWorkingDirectory(): string {
  try {
    return process.cwd()
  } catch (error) {
    const text = 'Cannot find the working directory, which was removed'
    throw new UsageError('bad-usage', `${text}; change to another one with "cd", then run again`, { cause: error })
  }
}

/** Returns the error for a failed write to stdout. */
export function cannotWrite(error: Error): FileError {
  return new FileError('io-error', `Cannot write to standard output: ${error.message}`, { cause: error })
}
