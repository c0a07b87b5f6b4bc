import { resolve } from 'node:path'
import { readUserFile } from '../../app/files/user-files.ts'
import { messageOf, UsageError } from '../../foundation/errors.ts'
import { decodeText, READABLE_TEXT } from '../../foundation/text/decode-text.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { RawResponse } from '../../remote/service-client.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import type { ExitName } from '../exit-codes.ts'
import { ASKS_SERVICE } from '../global-options.ts'
import { writeStdout } from '../render/print-download.ts'
import type { CliIo } from '../terminal/cli-io.ts'

export const command = defineCommand({
  description: 'Sends one request to any endpoint, and prints the body of the response unchanged.',
  positionals: {
    method: { type: 'string', required: true, describe: 'GET, POST, PUT, PATCH or DELETE' },
    path: { type: 'string', required: true, describe: 'Path below /api, such as /v1/libraries?limit=5' },
  },
  options: {
    data: {
      type: 'string',
      placeholder: 'JSON',
      describe: 'Body of the request; @FILE reads it from a file, @- from stdin',
    },
  },
  ...ASKS_SERVICE,
  examples: [
    ['api GET /v1/libraries?limit=5', 'the body of the response'],
    [`api POST /v1/libraries --data '{"name":"Research"}' --json`, 'as {status, headers, body}'],
  ],
  async run(context, { method, path, data }) {
    const json = data === undefined ? undefined : parseJson(await readData(data, context.io))
    await using service = await context.openService()
    const answer = await service.client.callRaw(method.toUpperCase(), path, json, context.signal)
    await showResponse(context, answer)
    return exitOf(answer.status)
  },
})

async function readData(data: string, io: CliIo): Promise<string> {
  if (!data.startsWith('@')) return data
  const text = decodeText(data === '@-' ? await readAll(io.stdin) : await readUserFile(resolve(io.cwd, data.slice(1))))
  if (text === undefined) throw new UsageError('bad-usage', `Cannot use the data: ${READABLE_TEXT}`)
  return text
}

async function readAll(stdin: CliIo['stdin']): Promise<Buffer> {
  const chunks = await Array.fromAsync(stdin)
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError('bad-usage', `Cannot use the data: it is not JSON (${messageOf(error)})`)
  }
}

async function showResponse(context: CommandContext, { status, headers, body }: RawResponse): Promise<void> {
  const text = new TextDecoder().decode(body)
  const clean = context.redactor.redact(text)
  if (context.json) context.printJson({ status, headers, body: jsonOrText(text) })
  else if (context.io.isTerminal.stdout) context.print(text.split('\n').map(escapeText).join('\n'))
  else await writeStdout(context, [clean === text ? body : clean])
  if (status >= 300) context.printMessage(`The service answered ${status}`)
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function exitOf(status: number): ExitName {
  if (status < 300) return 'done'
  if (status === 401 || status === 403) return 'refused'
  return status === 429 || status >= 500 ? 'temporary' : 'failed'
}
