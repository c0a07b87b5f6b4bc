#!/usr/bin/env node
import type { CliIo, StopListener } from './cli/terminal/cli-io.ts'

// Old versions of Node must be able to load this file, so it uses only syntax of 2019 and imports nothing before the check.
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
  // Without a listener, SIGUSR1 opens Node's debugger, through which any user of the machine can run code as this user.
  process.on('SIGUSR1', () => {})
  // Unlike an import, getBuiltinModule() loads only the module that it returns.
  const { isatty } = process.getBuiltinModule('node:tty')
  const { keepCompiledCode } = await import('./app/tune-process.ts')
  const home = findHome()
  keepCompiledCode(home, process.env.XDG_CACHE_HOME)
  // Each thread of the pool takes memory for an allocation arena of its own; two threads are enough to keep a disk busy.
  if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '2'
  const { runCli } = await import('./cli/run-cli.ts')
  const { ownUid } = await import('./foundation/files/ownership.ts')
  const { cannotWrite, findWorkingDirectory } = await import('./cli/terminal/cli-io.ts')
  const { stdout, stderr, env } = process
  const { signal, onStop } = await listenForStop()
  const { mayAnyThreadBeStuck } = await import('./foundation/concurrency/stuck-threads.ts')
  // Registered first, so that it runs before the listener that waits for threads that still load: the kernel ends them as well.
  process.on('exit', (code) => {
    if (mayAnyThreadBeStuck()) endWithoutThreads(code)
  })
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // EPIPE: the program that reads the output has stopped reading, which is not an error.
    if (error.code !== 'EPIPE') throw cannotWrite(error)
  })
  // An error of stderr cannot be reported anywhere, so the command goes on without its messages.
  stderr.on('error', () => {})
  process.exitCode = await runCli(process.argv.slice(2), {
    // Opens the stream only when a command reads it, because few commands do.
    stdin: { [Symbol.asyncIterator]: () => readStdin(signal) },
    stdout,
    stderr,
    isTerminal: { stdin: isatty(0), stdout: stdout.isTTY === true, stderr: stderr.isTTY === true },
    env,
    asTyped: await loadAsTyped(process.argv[1] || ''),
    get cwd() {
      return findWorkingDirectory()
    },
    uid: ownUid(),
    home,
    signal,
    onStop,
    onCrash: (listener) => {
      process.on('uncaughtException', (error) => {
        // The listener may fail for the same cause. If its error were not handled here, it would call the listener again without end.
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

/** Returns `CliIo.asTyped` for a checkout, whose scripts are in TypeScript; undefined for an installed package. */
async function loadAsTyped(script: string): Promise<CliIo['asTyped']> {
  if (!script.endsWith('.ts')) return undefined
  const { typedInCheckout } = await import('./cli/commands-as-typed.ts')
  return typedInCheckout(script, process.env.PWD || '')
}

/** Lets the first SIGINT or SIGTERM abort the signal, and the second one end the process at once; both first call the listeners. */
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
 * Ends the process even if a thread waits for a mount that does not answer. Node would wait for its threads, also in
 * `process.reallyExit`; the kernel ends them when execve replaces the program of the process.
 */
function endWithoutThreads(code: number): void {
  if (process.platform !== 'win32' && process.execve)
    process.execve(process.execPath, ['node', '-e', `process.exit(${code})`], {})
}

/** Reads stdin until the signal is aborted, because an open stdin would keep the process alive. */
function readStdin(signal: AbortSignal): AsyncIterator<Uint8Array> {
  const { addAbortSignal } = process.getBuiltinModule('node:stream')
  return addAbortSignal(signal, process.stdin)[Symbol.asyncIterator]()
}

/** Writes an error in one line and returns the exit code. It loads no module, because there may be no file descriptor for that. */
function reportPlainly(what: 'start' | 'continue', error: unknown): number {
  const text = error instanceof Error ? error.message : String(error)
  const lacksDescriptors = /\bE[MN]FILE\b|too many open files/i.test(text)
  const todo = lacksDescriptors ? '; raise the limit of open files ("ulimit -n"), then run again' : ''
  process.stderr.write(`shelfd: Cannot ${what}: ${text.replace(/\s+/g, ' ').replace(/\.$/, '')}${todo}\n`)
  return lacksDescriptors ? 78 : 1
}
