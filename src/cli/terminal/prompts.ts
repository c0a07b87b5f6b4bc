import { Readable, Writable } from 'node:stream'
import { HeldBackError, InterruptedError } from '../../foundation/errors.ts'
import { escapeLines, escapeText } from '../../foundation/text/safe-text.ts'
import type { CommandContext } from '../context.ts'

interface Choice<T> {
  readonly value: T
  readonly label: string
  readonly hint?: string
}

/** Questions on stderr. Each throws InterruptedError when the user cancels. */
export type Prompts = Awaited<ReturnType<typeof openPrompts>>

interface TextOptions {
  readonly initial?: string
  readonly placeholder?: string
  /** Returns what is wrong with an answer, as a message; undefined for a good answer. */
  readonly validate?: (text: string) => string | undefined
}

/** Loads the library of prompts, which only few commands need. */
export async function openPrompts({ io, endWait }: Pick<CommandContext, 'io' | 'endWait'>) {
  const { stdin, stderr, signal } = io
  endWait()
  const clack = await import('@clack/prompts')
  const streams = {
    ...(stdin instanceof Readable && { input: stdin }),
    ...(stderr instanceof Writable && { output: stderr }),
    signal,
  }
  const unlessCancelled = <T>(answer: T | typeof clack.CANCEL_SYMBOL): T => {
    if (clack.isCancel(answer)) throw new InterruptedError()
    return answer
  }
  const toOptions = <T extends string>(choices: readonly Choice<T>[]) =>
    choices.map(({ value, label, hint }) => ({
      value: String(value),
      label: escapeText(label),
      ...(hint !== undefined && { hint: escapeText(hint) }),
    }))
  return {
    choose: async <T extends string>(message: string, choices: readonly Choice<T>[]): Promise<T> => {
      const answer = unlessCancelled(await clack.select<string>({ ...streams, message, options: toOptions(choices) }))
      const chosen = choices.find(({ value }) => value === answer)
      if (!chosen) throw new Error(`The prompt returned a choice that was not offered: ${answer}`)
      return chosen.value
    },
    chooseSeveral: async (message: string, choices: readonly Choice<string>[], initial: readonly string[]) => {
      const options = toOptions(choices)
      return unlessCancelled(
        await clack.multiselect<string>({ ...streams, message, options, initialValues: [...initial], required: false }),
      )
    },
    askText: async (message: string, { initial, placeholder, validate }: TextOptions = {}) =>
      unlessCancelled(
        await clack.text({
          ...streams,
          message,
          ...(initial !== undefined && { initialValue: initial }),
          ...(placeholder !== undefined && { placeholder }),
          ...(validate && { validate: (text) => validate(text ?? '') }),
        }),
      ),
    /** Shows no character of the answer. */
    askSecret: async (message: string) => unlessCancelled(await clack.password({ ...streams, message })),
    confirm: async (message: string, initial: boolean) =>
      unlessCancelled(await clack.confirm({ ...streams, message, initialValue: initial })),
  }
}

export async function askLine({ io, signal, endWait }: CommandContext, question: string): Promise<string> {
  endWait()
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

interface Confirmation {
  /** The flag that confirms in scripts. */
  readonly flag: string
  /** Continues the question after the name with what else is lost. */
  readonly extent?: string
  /** The name, if a flag gave it. */
  readonly typed?: string | undefined
}

/** Has the user type the name. Throws HeldBackError for another name, or if the user cannot be asked. */
export async function confirmByName(
  context: CommandContext,
  action: string,
  name: string,
  { flag, extent = '', typed }: Confirmation,
): Promise<void> {
  if (typed === undefined && !context.io.isTerminal.stdin)
    throw new HeldBackError('confirmation-needed', `Cannot ${action} "${name}" without ${flag}`)
  const question = `${action[0]?.toUpperCase()}${action.slice(1)} "${escapeText(name)}"${extent}? Type its name: `
  const answer = typed ?? (await askLine(context, question))
  if (answer === name) return
  throw new HeldBackError('confirmation-needed', `Cannot ${action} "${name}": "${answer}" is not its name`)
}
