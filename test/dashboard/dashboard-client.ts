/** Clients of the dashboard for tests. */
import { onTestFinished } from 'vitest'
import {
  type CallInput,
  type CallName,
  type CallResponse,
  dashboardCalls,
  liveEvent,
} from '../../src/contract/dashboard.ts'
import type { Home } from '../support/home.ts'
import { startHere } from '../support/run-shelfd.ts'

/** `shelfd dashboard` in this process, and a client that is signed in. */
export async function serveDashboard(home: Home) {
  const running = startHere(
    ['dashboard', '--json'],
    { ...home.env, SHELFD_FIRST_POLL: '5ms', SHELFD_CHECKERS: '1' },
    home.path,
  )
  onTestFinished(async () => {
    await running.stop()
    await running.ended
  })
  return { ...(await signIn(JSON.parse(await running.firstLine).url)), running }
}

/** A client that is signed in; every answer must have the shape of its call. */
export async function signIn(url: string) {
  const { origin } = new URL(url)
  let authorization = ''
  const call = async <K extends CallName>(
    name: K,
    input: CallInput<K>,
    signal?: AbortSignal,
  ): Promise<CallResponse<K>> => {
    const init = { method: 'POST', headers: { authorization }, body: JSON.stringify(input), ...(signal && { signal }) }
    const answer = await fetch(`${origin}/api/${name}`, init)
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`)
    return dashboardCalls[name].answer.parse(await answer.json()) as CallResponse<K>
  }
  const { token } = await call('signIn', { key: url.slice(url.lastIndexOf('/') + 1) })
  authorization = `Bearer ${token}`
  const live = async () => {
    const { body } = await fetch(`${origin}/api/live`, { headers: { authorization } })
    for await (const part of body ?? [])
      return liveEvent.parse(JSON.parse(Buffer.from(part).toString().slice('data: '.length)))
    throw new Error('The stream ended')
  }
  return { call, live }
}
