export type StopListener = (isLast: boolean) => void

/** Everything a command line reaches outside of itself, so that tests run it in process. */
export interface CliIo {
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  /** Working directory, absolute. */
  readonly cwd: string
  /** The user this runs as; undefined where users have no numbers (Windows). */
  readonly uid: number | undefined
  /** Home directory, absolute. */
  readonly home: string
  /** Aborted with an InterruptedError when the user or the system asks to stop. */
  readonly signal: AbortSignal
  /**
   * Calls `listener` when the user or the system asks to stop: before `signal` is aborted, and again, with true, before a
   * second request ends the process at once. Absent where nobody can ask.
   */
  readonly onStop?: (listener: StopListener) => Disposable
  /** Calls `listener` when an error was caught by nobody, before the process ends by it. Absent where that is for others to tell. */
  readonly onCrash?: (listener: (error: unknown) => Promise<void>) => void
  /** Calls `listener` at every SIGHUP; without listener it ends the process. Absent where there is no such thing. */
  readonly onHangup?: (listener: () => void) => Disposable
}

/** Columns of the terminal that data goes to; undefined for a file or a pipe. */
export function columnsOf({ stdout, isTerminal }: CliIo): number | undefined {
  const columns = isTerminal.stdout && 'columns' in stdout ? stdout.columns : undefined
  return typeof columns === 'number' && columns > 0 ? columns : undefined
}
