import { hostname } from 'node:os'
import { UsageError } from '../../foundation/errors.ts'
import type { ProgramCall } from '../../foundation/run-program.ts'
import type { Redactor } from '../../foundation/text/redaction.ts'
import { causesOfRun } from '../../rules/notice-causes.ts'
import type { Engine } from '../../sync/engine.ts'
import { type Channel, type Delivery, type NoticePlan, Notifications } from '../../sync/operator/notifications.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import type { Environment } from '../settings/overrides.ts'
import type { NotifySettings } from '../settings/settings.ts'

interface ChannelInput {
  readonly env: Environment
  readonly redactor: Redactor
}

const WEBHOOK_TIMEOUT_MS = 10_000
/** A shorter path may occur in unrelated text, which redaction would damage. */
const MIN_SECRET_PATH = 8

export function openChannels(settings: NotifySettings, input: ChannelInput): Channel[] {
  const { command, webhooks } = settings
  return [
    ...(command ? [commandChannel(command, input)] : []),
    ...webhooks.map(({ url }) => webhookChannel(url, input)),
  ]
}

/** Returns a channel that runs a program, with the text on stdin, and event and subject in environment variables. */
function commandChannel([program = '', ...args]: readonly string[], { env }: ChannelInput): Channel {
  return {
    name: `command "${program}"`,
    send: async ({ event, subject, text }, signal) => {
      const variables = { ...env, SHELFD_EVENT: event, SHELFD_SUBJECT: subject }
      return await runNotifyCommand({ program, args, input: `${text}\n`, env: variables, signal })
    },
  }
}

function webhookChannel(address: string, { env, redactor }: ChannelInput): Channel {
  const url = new URL(address)
  const { href, origin, pathname, search } = url
  redactor.add(href)
  if (pathname.length + search.length >= MIN_SECRET_PATH) redactor.add(`${pathname}${search}`)
  return {
    name: `webhook ${origin}`,
    send: async (message, signal) => {
      const { postWebhook, WebhookFailure } = await import('../../remote/post-webhook.ts')
      const { findProxy } = await import('../service-client/open-service.ts')
      try {
        const proxy = await findProxy(origin, { env, redactor })
        const limit = AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_TIMEOUT_MS)])
        await postWebhook({ url, body: JSON.stringify(message), proxy, signal: limit })
        return { kind: 'sent' }
      } catch (error) {
        if (!(error instanceof WebhookFailure)) throw error
        return { kind: error.mayHaveArrived ? 'doubt' : 'not-sent', reason: error.message }
      }
    },
  }
}

const PROGRAM_TIMEOUT_MS = 30_000

/** Throws UsageError('insecure-file') for a program that others can change. */
async function runNotifyCommand(command: ProgramCall): Promise<Delivery> {
  const { describeFailure, runProgram } = await import('../../foundation/run-program.ts')
  const call = { ...command, timeoutMs: PROGRAM_TIMEOUT_MS, isSilent: true }
  const { failure } = await runProgram(call)
  if (!failure) return { kind: 'sent' }
  const reason = describeFailure(call, failure)
  if (failure.kind === 'untrusted') throw new UsageError('insecure-file', reason)
  return { kind: ['killed', 'late', 'stopped'].includes(failure.kind) ? 'doubt' : 'not-sent', reason }
}

export function planNotices(settings: NotifySettings, input: ChannelInput): NoticePlan | undefined {
  const channels = openChannels(settings, input)
  return channels.length === 0 ? undefined : { channels, overdueMs: settings.noSuccessForMs, host: hostname() }
}

/** Reports the failures of a run, or that they are over. Sends nothing after a run that was stopped. */
export async function notifyOfRun(
  engine: Pick<Engine, 'store' | 'clock' | 'logger' | 'signal'>,
  plan: NoticePlan,
  { summary, outcome }: RunResult,
): Promise<void> {
  if (outcome === 'interrupted') return
  const nowMs = engine.clock.nowMs()
  const { causes, judged, mirrors } = causesOfRun(summary.mirrors, nowMs)
  const others = engine.store.mirrors
    .list()
    .filter(({ name }) => mirrors.every((mirror) => mirror.name !== name))
    .map(({ name }) => ({ name, state: 'unknown', triedAt: nowMs }) as const)
  await new Notifications(engine, plan).update({ nowMs, causes, judged, mirrors: [...mirrors, ...others] })
}
