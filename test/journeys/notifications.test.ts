/** Somebody is notified when runs fail and when they succeed again: the whole program, with a real receiver of webhooks. */
import { chmodSync, existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure } from '../support/daemon.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const CANARY = '/services/T00/canary-4f1c9b7d2e'

/** A mirror "Papers" in the embedded library, and who is notified. */
function configureNotify(home: Home, notify: unknown, mirror = {}): string {
  const papers = home.write('Papers', { 'a.md': 'one' })
  configure(home, { notify, mirrors: [{ path: papers, ...mirror }] })
  const file = join(home.path, 'config', 'shelfd', 'config.yaml')
  chmodSync(file, 0o600)
  return file
}

describe('a run that fails notifies', () => {
  test('a failure notifies once, and its end once', async () => {
    const receiver = await startWebhookReceiver()
    const { home } = await homeOnService()
    const exits: (number | null)[] = []
    const run = async (...args: string[]) => void exits.push((await home.shelfd(['sync', ...args])).exitCode)
    const events = () =>
      receiver.received.map(({ body }) => {
        const { event, subject } = JSON.parse(body)
        return `${event}: ${subject.replace(/^.*?: /, '')}`
      })
    const notify = { webhooks: [{ url: `${receiver.url}${CANARY}` }] }
    home.write('Papers', { 'b.bin': Buffer.alloc(3000) })
    configureNotify(home, notify, { library: 'Research', maxSize: '1KB' })
    await run('--dry-run')
    expect(events()).toEqual([])
    await run()
    await run()
    expect(events()).toEqual(['failure: Papers: 1 file needs attention: b.bin (over-max-size)'])
    configureNotify(home, notify, { library: 'Research' })
    await run()
    await run()
    expect(events().slice(1)).toEqual(['recovery: all is well again'])
    expect(exits).toEqual([1, 1, 1, 0, 0])
  })

  test('a receiver that fails changes nothing of the run, and its address stays secret [S-04]', async () => {
    const receiver = await startWebhookReceiver()
    receiver.answer = () => 500
    const { service, home } = await homeOnService()
    const file = configureNotify(
      home,
      { webhooks: [{ url: `${receiver.url}${CANARY}` }], command: ['true', CANARY] },
      { library: 'Research' },
    )
    service.answer = ({ route }) =>
      route === 'uploadFile' ? { status: 413, body: { message: `no ${CANARY}` } } : undefined
    const outcome = await home.shelfd(['sync', '-vv'])
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toContain('cannot send a notice')
    expect(outcome.stderr).toContain('it answers 500')
    const shown = await home.shelfd(['config', 'show'])
    expect(shown.stdout).toContain('set, not shown')
    const test = await home.shelfd(['notify', 'test'])
    expect(test).toMatchObject({
      exitCode: 1,
      stdout: `command "true": sent\nwebhook ${receiver.url}: not sent: it answers 500\n`,
    })
    const report = await home.shelfd(['bug-report'])
    const texts = [outcome, shown, test, report].flatMap(({ stdout, stderr }) => [stdout, stderr])
    expect(texts.filter((text) => text.includes('canary-4f1c9b7d2e'))).toEqual([])
    chmodSync(file, 0o644)
    expectExit(await home.shelfd(['sync']), 2, 'it holds a secret')
  })

  test('without anybody to tell a test message is a mistake', async () => {
    const { stderr } = expectExit(
      await temporaryHome().shelfd(['notify', 'test']),
      2,
      'the configuration names no channel',
    )
    const [, page = ''] = /as "(.*)" describes/.exec(stderr) ?? []
    expect(isAbsolute(page) && existsSync(page), 'a page of this installation').toBe(true)
  })

  test('a test message names each way and how it went', async () => {
    const receiver = await startWebhookReceiver()
    const home = temporaryHome()
    configureNotify(home, { webhooks: [{ url: `${receiver.url}${CANARY}` }], command: ['true'] })
    const { exitCode, stdout } = await home.shelfd(['notify', 'test', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      channels: [
        { channel: 'command "true"', sent: true, reason: null },
        { channel: `webhook ${receiver.url}`, sent: true, reason: null },
      ],
    })
    expect(receiver.received[0]?.body).toContain('this is a test')
  })
})
