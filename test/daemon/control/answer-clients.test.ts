import { expect, onTestFinished, test } from 'vitest'
import { answerClients, CLIENT_LOG_MESSAGES } from '../../../src/daemon/control/answer-clients.ts'
import { Supervisor } from '../../../src/daemon/supervisor.ts'
import { HeldBackError, InterruptedError } from '../../../src/foundation/errors.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { createProgress } from '../../../src/sync/progress.ts'
import { silentFileLog } from '../../../src/sync/sinks.ts'
import { accountOf, startEngine } from '../../support/engine.ts'
import { until } from '../../support/mirror-controller.ts'
import { supervisorPlan } from '../../support/supervisor.ts'
import type { Tree } from '../../support/temporary.ts'
import { syncRequest } from './control-daemon.ts'

const { beginSync, endSync } = CLIENT_LOG_MESSAGES

/** The handlers of a daemon without mirrors of its own, and a client's sync of one mirror; `logged` says when one began and ended. */
async function startHandlers(tree: Tree) {
  const logged: string[] = []
  const info = (message: string) => {
    if (message === beginSync || message === endSync) logged.push(message)
  }
  const { service, engine, mirror } = await startEngine(tree, { logger: { ...silentLogger, info } })
  const supervisor = new Supervisor(supervisorPlan(engine), (error) => {
    throw error
  })
  onTestFinished(() => supervisor.stop())
  const unused = () => expect.fail('only syncs are asked for')
  const daemon = { supervisor: () => supervisor, status: unused, reload: unused, forget: unused, dashboard: unused }
  const handlers = answerClients(daemon)
  const request = { ...syncRequest, mirrors: [mirror], limits: engine.limits }
  const sync = (signal = new AbortController().signal) => {
    const progress = createProgress()
    return { progress, result: handlers.sync(request, { signal, progress, fileLog: silentFileLog }) }
  }
  return { service, engine, logged, sync }
}

test('syncs of two clients run one after the other', async () => {
  const { service, logged, sync } = await startHandlers({ 'a.md': 'A', 'b.md': 'B' })
  const held = service.holdUploads()
  const first = sync()
  await held.begun
  const second = sync()
  const phase = second.progress.phase
  held.release()
  const results = [await first.result, await second.result]
  expect(logged).toEqual([beginSync, endSync, beginSync, endSync])
  expect(phase).toBe('turn')
  expect(results.map((result) => accountOf(result).uploads.created)).toEqual([2, 0])
})

test('a client that waits for the sync of another may give up', async () => {
  const { service, logged, sync } = await startHandlers({ 'a.md': 'A' })
  const held = service.holdUploads()
  const first = sync()
  await held.begun
  const stop = new AbortController()
  const second = sync(stop.signal)
  const third = sync()
  stop.abort(new InterruptedError())
  await expect(second.result).rejects.toBe(stop.signal.reason)
  expect(logged, 'the first one still runs').toEqual([beginSync])
  held.release()
  await Promise.all([first.result, third.result])
  expect(logged).toEqual([beginSync, endSync, beginSync, endSync])
})

test.each([new InterruptedError(), new HeldBackError('limit-reached', 'Stopped after --max-duration 1h')])(
  'a sync that waits for another scan ends when it is stopped: %s',
  async (reason) => {
    const { engine, sync } = await startHandlers({ 'a.md': 'A' })
    const scanOfAnother = await engine.scanMutex.lock()
    onTestFinished(() => scanOfAnother[Symbol.dispose]())
    const stop = new AbortController()
    const { progress, result } = sync(stop.signal)
    await until('it waits', () => progress.mirror !== '' && progress.phase === 'turn')
    stop.abort(reason)
    expect((await result).failure).toBe(reason)
  },
)
