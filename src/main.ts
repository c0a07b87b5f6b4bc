#!/usr/bin/env node
import type { CliIo, StopListener } from './cli/terminal/cli-io.ts'

// Any version of Node may load this file: it uses only syntax of 2019, and imports nothing before the check.
const major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  process.stderr.write(`shelfd: Cannot run on Node ${process.versions.node}: Node 24 or newer is needed\n`)
  process.exitCode = 2
} else {
  main().catch((error: unknown) => {
    process.exitCode = reportPlainly('start', error)
  })
}

async function main(): Promise<void> {
  process.umask(0o077)
  // Without a listener Node opens its debugger, through which every user of the machine may run code as this one.
  process.on('SIGUSR1', () => {})
  // Unlike an import, this loads only what is asked for.
  const { isatty } = process.getBuiltinModule('node:tty')
  const { keepCompiledCode } = await import('./app/tune-process.ts')
  const home = findHome()
  keepCompiledCode(home, process.env.XDG_CACHE_HOME)
  // Each thread of the pool has an allocation arena of its own; two keep a disk busy.
  if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '2'
  const { runCli } = await import('./cli/run-cli.ts')
  const { ownUid } = await import('./foundation/files/ownership.ts')
  const { cannotWrite, findWorkingDirectory } = await import('./cli/terminal/cli-io.ts')
  const { stdout, stderr, env } = process
  const { signal, onStop } = await listenForStop()
  const { mayBeStuck } = await import('./foundation/concurrency/stuck-threads.ts')
  // Before any thread starts, so before the listener that waits while threads load: the kernel ends those as well.
  process.on('exit', (code) => {
    if (mayBeStuck()) endWithoutThreads(code)
  })
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The program that reads the output has stopped reading. This is not an error.
    if (error.code !== 'EPIPE') throw cannotWrite(error)
  })
  // Messages that cannot be written cannot be reported either; what they are about goes on.
  stderr.on('error', () => {})
  process.exitCode = await runCli(process.argv.slice(2), {
    // The stream opens only when a command reads it, and few do.
    stdin: { [Symbol.asyncIterator]: () => readStdin(signal) },
    stdout,
    stderr,
    isTerminal: { stdin: isatty(0), stdout: stdout.isTTY === true, stderr: stderr.isTTY === true },
    env,
    asTyped: await typedHere(process.argv[1] || ''),
    get cwd() {
      return findWorkingDirectory()
    },
    uid: ownUid(),
    home,
    signal,
    onStop,
    onCrash: (listener) => {
      process.on('uncaughtException', (error) => {
        // What reports the error may lack what it needs as well, and a failure of it would come here again without end.
        const endPlainly = () => process.exit(reportPlainly('continue', error))
        void listener(error).then((code) => process.exit(code), endPlainly)
      })
    },
    onHangup: (listener) => {
      process.on('SIGHUP', listener)
      return { [Symbol.dispose]: () => process.off('SIGHUP', listener) }
    },
  })
}

/** Returns the home directory; '' where HOME is not set and the user has no entry in the password database, as in a container. */
function findHome(): string {
  try {
    return process.getBuiltinModule('node:os').homedir()
  } catch {
    return ''
  }
}

/** Only a checkout has scripts in TypeScript. */
async function typedHere(script: string): Promise<CliIo['asTyped']> {
  if (!script.endsWith('.ts')) return undefined
  const { typedInCheckout } = await import('./cli/checkout.ts')
  return typedInCheckout(script, process.env.PWD || '')
}

/** The first SIGINT or SIGTERM aborts the signal, the second one ends the process at once; listeners run before each. */
async function listenForStop(): Promise<Required<Pick<CliIo, 'signal' | 'onStop'>>> {
  const { InterruptedError } = await import('./foundation/errors.ts')
  const controller = new AbortController()
  const listeners = new Set<StopListener>()
  const stop = () => {
    const isLast = controller.signal.aborted
    for (const listener of listeners) listener(isLast)
    if (isLast) process.exit(130)
    controller.abort(new InterruptedError())
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop)
  return {
    signal: controller.signal,
    onStop: (listener) => {
      listeners.add(listener)
      return { [Symbol.dispose]: () => listeners.delete(listener) }
    },
  }
}

/**
 * Ends the process although a thread waits for a mount that does not answer: Node would wait for its threads, as it does in
 * `process.reallyExit`, while the kernel ends them where another program takes the place of this one.
 */
function endWithoutThreads(code: number): void {
  if (process.platform !== 'win32' && process.execve)
    process.execve(process.execPath, ['node', '-e', `process.exit(${code})`], {})
}

/** Reads until the program is asked to stop: an open stdin would keep the process alive. */
function readStdin(signal: AbortSignal): AsyncIterator<Uint8Array> {
  const { addAbortSignal } = process.getBuiltinModule('node:stream')
  return addAbortSignal(signal, process.stdin)[Symbol.asyncIterator]()
}

/** Writes one line without any module, since the lack of file descriptors that kept one from being loaded lasts; returns the exit code. */
function reportPlainly(what: 'start' | 'continue', error: unknown): number {
  const text = error instanceof Error ? error.message : String(error)
  const isLack = /\bE[MN]FILE\b|too many open files/i.test(text)
  const todo = isLack ? '; raise the limit of open files ("ulimit -n"), then run again' : ''
  process.stderr.write(`shelfd: Cannot ${what}: ${text.replace(/\s+/g, ' ').replace(/\.$/, '')}${todo}\n`)
  return isLack ? 78 : 1
}
