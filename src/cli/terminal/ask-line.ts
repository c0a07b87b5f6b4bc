import { escapeLines } from '../../foundation/text/safe-text.ts'
import type { CommandContext } from '../context.ts'

/** Asks on stderr and returns the next line of stdin without its end; empty when stdin has ended. */
export async function askLine({ io, signal }: CommandContext, question: string): Promise<string> {
  io.stderr.write(escapeLines(question))
  const decoder = new TextDecoder()
  let typed = ''
  for await (const chunk of io.stdin) {
    signal.throwIfAborted()
    typed += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    if (typed.includes('\n')) break
  }
  return typed.split(/\r?\n/)[0] ?? ''
}
