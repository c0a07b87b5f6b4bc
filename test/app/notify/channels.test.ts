import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openChannels } from '../../../src/app/notify/channels.ts'
import type { NotifySettings, WebhookSettings } from '../../../src/app/settings/settings.ts'
import { describeNotice, describeTest, describeWell, type NoticeMessage } from '../../../src/rules/notices.ts'
import { freePort } from '../../support/free-port.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { startWebhookReceiver } from '../../support/webhook-receiver.ts'

const SENDER = { host: 'hêre', nowMs: 0 }
const HALTED = { key: 'mirror:Ä', code: 'root-emptied', message: 'Ä: 60 of 86 files are <gone> & away from /mnt/ä' }
const FAILURE = describeNotice({ failures: [HALTED], recoveries: [], open: 1 }, SENDER)
const RECOVERY = describeNotice({ failures: [], recoveries: [HALTED], open: 0 }, SENDER)
const NOBODY: NotifySettings = { command: undefined, webhooks: [], email: undefined, noSuccessForMs: null }
const PATH = process.env.PATH ?? ''

/** Sends a message by the only channel of the settings. */
async function send(settings: Partial<NotifySettings>, message: NoticeMessage, signal = new AbortController().signal) {
  const secrets: string[] = []
  const redactor = { add: (secret: string) => void secrets.push(secret), redact: (text: string) => text }
  const env = { PATH, SHELFD_TOKEN: 'the-canary-token' }
  const [channel] = openChannels({ ...NOBODY, ...settings }, { env, redactor })
  if (!channel) throw new Error('no channel')
  return { delivery: await channel.send(message, signal), name: channel.name, secrets }
}

/** A program that records its arguments, input and environment beside itself. */
function recorder(rest = ''): { program: string; read: (what: 'args' | 'input' | 'env') => string } {
  const directory = temporaryDirectory()
  const program = join(directory, 'recorder')
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${directory}/args'; cat > '${directory}/input'; env > '${directory}/env'\n${rest}\n`,
  )
  chmodSync(program, 0o700)
  return { program, read: (what) => readFileSync(join(directory, what), 'utf8') }
}

describe('webhooks', () => {
  const formats: readonly [WebhookSettings['format'], NoticeMessage, string, unknown][] = [
    ['json', FAILURE, '/hook?key=1', { ...FAILURE, event: 'failure', open: 1, problems: [HALTED], recovered: [] }],
    [
      'slack',
      FAILURE,
      '/hook?key=1',
      {
        text: '*shelfd on hêre: Ä: 60 of 86 files are &lt;gone&gt; &amp; away from /mnt/ä*\nÄ: 60 of 86 files are &lt;gone&gt; &amp; away from /mnt/ä [root-emptied]\nLook: shelfd status',
      },
    ],
    [
      'ntfy',
      FAILURE,
      '/hook?key=1&title=shelfd+on+h%C3%AAre%3A+%C3%84%3A+60+of+86+files+are+%3Cgone%3E+%26+away+from+%2Fmnt%2F%C3%A4&priority=high&tags=warning',
      'Ä: 60 of 86 files are <gone> & away from /mnt/ä [root-emptied]\nLook: shelfd status',
    ],
    ['healthchecks', FAILURE, '/hook/fail?key=1', `${FAILURE.subject}\n${FAILURE.text}`],
    ['healthchecks', RECOVERY, '/hook?key=1', `${RECOVERY.subject}\n${RECOVERY.text}`],
    ['healthchecks', describeWell(SENDER), '/hook?key=1', 'shelfd on hêre: all is well'],
    ['healthchecks', describeTest(SENDER), '/hook/log?key=1', expect.stringContaining('this is a test')],
  ]
  test.each(formats)('%s takes a message in its form (%#)', async (format, message, path, body) => {
    const receiver = await startWebhookReceiver()
    const { delivery } = await send({ webhooks: [{ url: `${receiver.url}/hook?key=1`, format }] }, message)
    expect(delivery).toEqual({ kind: 'sent' })
    const [got] = receiver.received
    expect(got?.path).toBe(path)
    const isJson = got?.headers['content-type'] === 'application/json'
    expect(isJson ? JSON.parse(got?.body ?? '') : got?.body).toEqual(body)
    expect(JSON.stringify(got?.headers)).not.toContain('canary')
  })

  test('the address is a secret, and messages name its origin alone', async () => {
    const receiver = await startWebhookReceiver()
    receiver.answer = () => 404
    const url = `${receiver.url}/services/T0/B0/secret`
    const { delivery, name, secrets } = await send({ webhooks: [{ url, format: 'json' }] }, FAILURE)
    expect({ delivery, name }).toEqual({
      delivery: { kind: 'not-sent', reason: 'it answers 404' },
      name: `webhook ${receiver.url}`,
    })
    expect(secrets).toEqual([url, '/services/T0/B0/secret'])
  })

  test('a redirect is not followed', async () => {
    const receiver = await startWebhookReceiver()
    receiver.answer = () => 307
    const { delivery } = await send({ webhooks: [{ url: receiver.url, format: 'json' }] }, FAILURE)
    expect(delivery).toEqual({ kind: 'not-sent', reason: 'it answers 307' })
    expect(receiver.received).toHaveLength(1)
  })

  test('a receiver that does not answer leaves a doubt, one that is away none', async () => {
    const receiver = await startWebhookReceiver()
    const patience = new AbortController()
    receiver.answer = () => {
      patience.abort()
      return undefined
    }
    const silent = await send({ webhooks: [{ url: receiver.url, format: 'json' }] }, FAILURE, patience.signal)
    expect(silent.delivery).toEqual({ kind: 'doubt', reason: 'no answer in time' })
    const url = `http://127.0.0.1:${await freePort()}`
    const away = await send({ webhooks: [{ url, format: 'json' }] }, FAILURE)
    expect(away.delivery).toEqual({ kind: 'not-sent', reason: 'connection refused' })
  })
})

describe('a command', () => {
  test('a command gets the text, the event and the subject, and no token', async () => {
    const { program, read } = recorder()
    const { delivery } = await send({ command: [program, '--to', 'a b'] }, FAILURE)
    expect(delivery).toEqual({ kind: 'sent' })
    expect(read('args')).toBe('--to\na b\n')
    expect(read('input')).toBe(`${FAILURE.text}\n`)
    expect(read('env')).toContain('SHELFD_EVENT=failure\n')
    expect(read('env')).toContain(`SHELFD_SUBJECT=${FAILURE.subject}\n`)
    expect(read('env')).not.toContain('canary')
  })

  test('a command that fails, is missing or is stopped has its own message', async () => {
    const { program } = recorder('exit 3')
    expect((await send({ command: [program] }, FAILURE)).delivery).toEqual({
      kind: 'not-sent',
      reason: `"${program}" exited with 3`,
    })
    expect((await send({ command: ['no-such-program-of-shelfd'] }, FAILURE)).delivery).toEqual({
      kind: 'not-sent',
      reason: 'there is no program "no-such-program-of-shelfd"',
    })
    const directory = temporaryDirectory()
    const patience = new AbortController()
    const stopped = send(
      { command: ['sh', '-c', `: > '${directory}/begun'; exec sleep 600`] },
      FAILURE,
      patience.signal,
    )
    await expect.poll(() => existsSync(join(directory, 'begun')), { timeout: 60_000 }).toBe(true)
    patience.abort()
    expect((await stopped).delivery).toEqual({ kind: 'doubt', reason: '"sh" was stopped before it ended' })
  })

  test('a command that others can change is not run [S-06]', async () => {
    const { program, read } = recorder()
    chmodSync(program, 0o777)
    await expect(send({ command: [program] }, FAILURE)).rejects.toMatchObject({ code: 'insecure-file' })
    expect(() => read('args')).toThrow('ENOENT')
  })

  test('a command that reads nothing gets a long text all the same', async () => {
    expect((await send({ command: ['true'] }, { ...FAILURE, text: 'x'.repeat(1_000_000) })).delivery.kind).toBe('sent')
  })
})

describe('e-mail', () => {
  test('sendmail gets a message that mail programs read', async () => {
    const { program, read } = recorder()
    const email = { to: ['ada@example.com', 'bob@example.com'], from: 'shelfd@example.com', sendmail: program }
    expect((await send({ email }, FAILURE)).delivery).toEqual({ kind: 'sent' })
    expect(read('args')).toBe('-i\n-f\nshelfd@example.com\n--\nada@example.com\nbob@example.com\n')
    const { default: PostalMime } = await import('postal-mime')
    const mail = await PostalMime.parse(read('input'))
    expect(mail).toMatchObject({
      subject: FAILURE.subject,
      to: [{ address: 'ada@example.com' }, { address: 'bob@example.com' }],
      from: { address: 'shelfd@example.com' },
      text: `${FAILURE.subject}\n\n${FAILURE.text}\n`,
    })
    expect(
      Math.max(
        ...read('input')
          .split('\n')
          .map(({ length }) => length),
      ),
    ).toBeLessThanOrEqual(78)
  })

  test('a refused message is named', async () => {
    const { program } = recorder('exit 75')
    const { delivery, name } = await send(
      { email: { to: ['ada@example.com'], from: undefined, sendmail: program } },
      RECOVERY,
    )
    expect({ delivery, name }).toEqual({
      delivery: { kind: 'not-sent', reason: `"${program}" exited with 75` },
      name: 'e-mail to ada@example.com',
    })
  })
})
