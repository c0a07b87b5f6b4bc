import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openChannels } from '../../../src/app/notify/channels.ts'
import type { NotifySettings } from '../../../src/app/settings/settings.ts'
import { describeNotice, describeTest, type NoticeMessage } from '../../../src/rules/notices.ts'
import { freePort } from '../../support/free-port.ts'
import { needs } from '../../support/needs.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { startWebhookReceiver } from '../../support/webhook-receiver.ts'

const SENDER = { host: 'hêre', nowMs: 0 }
const HALTED = { key: 'mirror:Ä', code: 'root-emptied', message: 'Ä: 60 of 86 files are <gone> & away from /mnt/ä' }
const FAILURE = describeNotice({ failures: [HALTED], recoveries: [], open: 1 }, SENDER)
const RECOVERY = describeNotice({ failures: [], recoveries: [HALTED], open: 0 }, SENDER)
const NOBODY: NotifySettings = { command: undefined, webhooks: [], noSuccessForMs: null }
const PATH = process.env.PATH ?? ''
const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/notifications.md'), 'utf8')

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
  test('a webhook gets a message as JSON', async () => {
    const receiver = await startWebhookReceiver()
    const { delivery } = await send({ webhooks: [{ url: `${receiver.url}/hook?key=1` }] }, FAILURE)
    expect(delivery).toEqual({ kind: 'sent' })
    const [got] = receiver.received
    expect(got).toMatchObject({ path: '/hook?key=1', headers: { 'content-type': 'application/json' } })
    expect(JSON.parse(got?.body ?? '')).toEqual({ ...FAILURE, problems: [HALTED], recovered: [] })
    expect(JSON.stringify(got?.headers)).not.toContain('canary')
  })

  test('the address is a secret, and messages name its origin alone', async () => {
    const receiver = await startWebhookReceiver()
    receiver.answer = () => 404
    const url = `${receiver.url}/services/T0/B0/secret`
    const { delivery, name, secrets } = await send({ webhooks: [{ url }] }, FAILURE)
    expect({ delivery, name }).toEqual({
      delivery: { kind: 'not-sent', reason: 'it answers 404' },
      name: `webhook ${receiver.url}`,
    })
    expect(secrets).toEqual([url, '/services/T0/B0/secret'])
  })

  test('a redirect is not followed', async () => {
    const receiver = await startWebhookReceiver()
    receiver.answer = () => 307
    const { delivery } = await send({ webhooks: [{ url: receiver.url }] }, FAILURE)
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
    const silent = await send({ webhooks: [{ url: receiver.url }] }, FAILURE, patience.signal)
    expect(silent.delivery).toEqual({ kind: 'doubt', reason: 'no answer in time' })
    const url = `http://127.0.0.1:${await freePort()}`
    const away = await send({ webhooks: [{ url }] }, FAILURE)
    expect(away.delivery).toEqual({ kind: 'not-sent', reason: 'connection refused' })
  })
})

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
  const stopped = send({ command: ['sh', '-c', `: > '${directory}/begun'; exec sleep 600`] }, FAILURE, patience.signal)
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

/** The script under a heading of the page, with `from` replaced by `to` in it, as a program. */
function scriptOf(heading: string, from: string, to: string): string[] {
  const [, section = ''] = PAGE.split(`\n### ${heading}\n`)
  const [, script = ''] = section.split('```sh\n')
  expect(script).toContain(from)
  const program = join(temporaryDirectory(), 'notify-me')
  writeFileSync(program, (script.split('```')[0] ?? '').replace(from, to), { mode: 0o700 })
  return [program]
}

describe('commands of the page on notifications', () => {
  test('ntfy gets title, priority and text', async () => {
    needs('curl')
    const receiver = await startWebhookReceiver()
    const command = scriptOf('ntfy', 'https://ntfy.sh', receiver.url)
    for (const message of [FAILURE, RECOVERY])
      expect((await send({ command }, message)).delivery).toEqual({ kind: 'sent' })
    const [failure, recovery] = receiver.received.map(({ path, body }) => ({ url: new URL(path, receiver.url), body }))
    expect(failure?.url.pathname).toBe('/a-topic-nobody-guesses')
    expect(Object.fromEntries(failure?.url.searchParams ?? [])).toEqual({ title: FAILURE.subject, priority: 'high' })
    expect(failure?.body).toBe(`${FAILURE.text}\n`)
    expect(recovery?.url.searchParams.get('priority')).toBe('default')
  })

  test('Slack gets a text whose signs have no meaning to it', async () => {
    needs('curl', 'jq')
    const receiver = await startWebhookReceiver()
    const command = scriptOf('Slack', 'https://hooks.slack.com', receiver.url)
    expect((await send({ command }, FAILURE)).delivery).toEqual({ kind: 'sent' })
    const [got] = receiver.received
    expect(got?.headers['content-type']).toBe('application/json')
    const said = 'Ä: 60 of 86 files are &lt;gone&gt; &amp; away from /mnt/ä'
    expect(JSON.parse(got?.body ?? '')).toEqual({
      text: `*shelfd on hêre: ${said}*\n${said} [root-emptied]\nSee: shelfd status\n`,
    })
  })

  test('healthchecks.io gets a failure, a recovery and a test in their places', async () => {
    needs('curl')
    const receiver = await startWebhookReceiver()
    const command = scriptOf('healthchecks.io', 'https://hc-ping.com', receiver.url)
    for (const message of [FAILURE, RECOVERY, describeTest(SENDER)]) await send({ command }, message)
    const check = '/UUID-OF-THE-CHECK'
    expect(receiver.received.map(({ path }) => path)).toEqual([`${check}/fail`, check, `${check}/log`])
    expect(receiver.received[0]?.body).toBe(`${FAILURE.text}\n`)
  })

  test('a receiver that refuses fails the command', async () => {
    needs('curl')
    const receiver = await startWebhookReceiver()
    receiver.answer = () => 404
    const command = scriptOf('ntfy', 'https://ntfy.sh', receiver.url)
    expect((await send({ command }, FAILURE)).delivery.kind).toBe('not-sent')
  })

  test('sendmail gets a message that mail programs read', async () => {
    const { program, read } = recorder()
    const command = scriptOf('Mail', '/usr/sbin/sendmail', program)
    expect((await send({ command }, FAILURE)).delivery).toEqual({ kind: 'sent' })
    expect(read('args')).toBe('-i\n-t\n')
    const { default: PostalMime } = await import('postal-mime')
    expect(await PostalMime.parse(read('input'))).toMatchObject({
      subject: FAILURE.subject,
      to: [{ address: 'ada@example.com' }],
      text: `${FAILURE.text}\n`,
    })
  })

  test('signs of life go to a check while the daemon is ready, and with the exit code of a run', async () => {
    needs('curl')
    const receiver = await startWebhookReceiver()
    const lines = Array.from(PAGE.matchAll(/```cron\n(?:\S+ ){5}(.*)\n```/g), ([, line = '']) => line)
    const runLine = (line: string) => {
      const here = line.replace('https://hc-ping.com', receiver.url).replace('http://127.0.0.1:9847', receiver.url)
      const { promise, resolve } = Promise.withResolvers<void>()
      execFile('sh', ['-c', here.replace('shelfd sync --quiet', '(exit 5)')], () => resolve())
      return promise
    }
    const [daemon = '', run = ''] = lines
    await runLine(daemon)
    receiver.answer = () => 503
    await runLine(daemon)
    await runLine(run)
    const check = '/UUID-OF-THE-CHECK'
    expect(receiver.received.map(({ path }) => path)).toEqual(['/readyz', check, '/readyz', `${check}/5`])
  })
})
