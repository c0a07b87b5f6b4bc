/** The ways a notice can take: a program, webhooks, e-mail. Whether there is one, and its words, are decided in `rules/notices.ts`. */
import { hostname } from 'node:os'
import { UsageError } from '../../foundation/errors.ts'
import type { ProgramCall } from '../../foundation/run-program.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { causesOfRun } from '../../rules/notice-causes.ts'
import type { NoticeMessage } from '../../rules/notices.ts'
import type { Engine } from '../../sync/engine.ts'
import { type Channel, type Delivery, type NoticePlan, Notifications } from '../../sync/notifications.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import type { Redactor } from '../logging/redactor.ts'
import type { Environment } from '../settings/overrides.ts'
import type { EmailSettings, NotifySettings, WebhookSettings } from '../settings/settings.ts'

interface ChannelInput {
  readonly env: Environment
  /** Learns the addresses of webhooks. */
  readonly redactor: Redactor
}

const WEBHOOK_TIMEOUT_MS = 10_000
/** A shorter path, such as the topic of a server of one's own, may be part of other text. */
const SHORTEST_SECRET_PATH = 8

/** Returns the channels of the configuration; they load what they need with their first message. */
export function openChannels(settings: NotifySettings, input: ChannelInput): Channel[] {
  const { command, webhooks, email } = settings
  return [
    ...(command ? [commandChannel(command, input)] : []),
    ...webhooks.map((webhook) => webhookChannel(webhook, input)),
    ...(email ? [emailChannel(email, input)] : []),
  ]
}

/** The program gets the text on stdin, event and subject as variables. */
function commandChannel([program = '', ...args]: readonly string[], { env }: ChannelInput): Channel {
  return {
    name: `command "${program}"`,
    wantsSignsOfLife: false,
    send: async ({ event, subject, text }, signal) => {
      const variables = { ...env, SHELFD_EVENT: event, SHELFD_SUBJECT: subject }
      return await deliver({ program, args, input: `${text}\n`, env: variables, signal })
    },
  }
}

function webhookChannel(webhook: WebhookSettings, { env, redactor }: ChannelInput): Channel {
  const { href, origin, pathname, search } = new URL(webhook.url)
  redactor.add(href)
  if (pathname.length + search.length >= SHORTEST_SECRET_PATH) redactor.add(`${pathname}${search}`)
  return {
    name: `webhook ${origin}`,
    wantsSignsOfLife: webhook.format === 'healthchecks',
    send: async (message, signal) => {
      const { postWebhook, WebhookFailure } = await import('../../remote/post-webhook.ts')
      const { findProxy } = await import('../service-client/open-service.ts')
      try {
        const proxy = await findProxy(origin, { env, redactor })
        const limit = AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_TIMEOUT_MS)])
        await postWebhook({ ...postOf(webhook, message), proxy, signal: limit })
        return { kind: 'sent' }
      } catch (error) {
        if (!(error instanceof WebhookFailure)) throw error
        return { kind: error.mayHaveArrived ? 'doubt' : 'not-sent', reason: error.message }
      }
    },
  }
}

function emailChannel({ to, from, sendmail }: EmailSettings, { env }: ChannelInput): Channel {
  return {
    name: `e-mail to ${to.join(', ')}`,
    wantsSignsOfLife: false,
    send: async (message, signal): Promise<Delivery> => {
      // -i: a line with a single dot does not end the message. The addresses are checked to be no flags.
      const args = ['-i', ...(from === undefined ? [] : ['-f', from]), '--', ...to]
      return await deliver({ program: sendmail, args, input: mailOf(message, { to, from }), env, signal })
    },
  }
}

const PROGRAM_TIMEOUT_MS = 30_000

/** Throws UsageError('insecure-file') for a program that others can change. */
async function deliver(message: ProgramCall): Promise<Delivery> {
  const { describeFailure, runProgram } = await import('../../foundation/run-program.ts')
  const call = { ...message, timeoutMs: PROGRAM_TIMEOUT_MS, isSilent: true }
  const { failure } = await runProgram(call)
  if (!failure) return { kind: 'sent' }
  const reason = describeFailure(call, failure)
  if (failure.kind === 'untrusted') throw new UsageError('insecure-file', reason)
  return { kind: ['killed', 'late', 'stopped'].includes(failure.kind) ? 'doubt' : 'not-sent', reason }
}

/** RFC 5322: base64 carries any text within the bounds on lines; the subject is encoded word by word (RFC 2047). */
function mailOf({ event, subject, text }: NoticeMessage, { to, from }: Pick<EmailSettings, 'to' | 'from'>): string {
  const body = Buffer.from(`${subject}\n\n${text}\n`).toString('base64')
  return [
    `To: ${to.join(', ')}`,
    ...(from === undefined ? [] : [`From: ${from}`]),
    `Subject: ${encodeSubject(escapeText(subject))}`,
    'Auto-Submitted: auto-generated',
    `X-Shelfd-Event: ${event}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...(body.match(/.{1,76}/g) ?? []),
    '',
  ].join('\n')
}

function encodeSubject(subject: string): string {
  const pieces = subject.match(/.{1,14}/gsu) ?? []
  return pieces.map((piece) => `=?utf-8?B?${Buffer.from(piece).toString('base64')}?=`).join('\n ')
}

interface Post {
  readonly url: URL
  readonly contentType: string
  readonly body: string
}

/** Words a message as the service behind a webhook takes it. */
function postOf({ url, format }: WebhookSettings, message: NoticeMessage): Post {
  switch (format) {
    case 'json':
      return json(url, message)
    case 'slack':
      return json(url, { text: escapeForSlack(`*${message.subject}*\n${message.text}`.trim()) })
    case 'ntfy':
      return toNtfy(url, message)
    case 'healthchecks':
      return toHealthchecks(url, message)
  }
}

function json(url: string, value: unknown): Post {
  return { url: new URL(url), contentType: 'application/json', body: JSON.stringify(value) }
}

/** Slack gives these three characters a meaning. */
function escapeForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Puts the message into parameters of the address, since headers could not hold every character of a title. */
function toNtfy(address: string, { event, subject, text }: NoticeMessage): Post {
  const url = new URL(address)
  url.searchParams.set('title', subject)
  url.searchParams.set('priority', event === 'failure' ? 'high' : 'default')
  url.searchParams.set('tags', event === 'failure' ? 'warning' : 'white_check_mark')
  return { url, contentType: 'text/plain; charset=utf-8', body: text === '' ? subject : text }
}

/** A failure marks the check as down, a test is only logged there; anything else is a sign of life. */
function toHealthchecks(address: string, { event, subject, text }: NoticeMessage): Post {
  const url = new URL(address)
  const end = event === 'failure' ? '/fail' : event === 'test' ? '/log' : ''
  url.pathname = `${url.pathname.replace(/\/$/, '')}${end}`
  return { url, contentType: 'text/plain; charset=utf-8', body: `${subject}\n${text}`.trim() }
}

/** Returns what the settings say about notices; undefined when nobody is to be notified. */
export function planNotices(settings: NotifySettings, input: ChannelInput): NoticePlan | undefined {
  const channels = openChannels(settings, input)
  return channels.length === 0 ? undefined : { channels, overdueMs: settings.noSuccessForMs, host: hostname() }
}

/** Notifies of what a run that has ended found, or that it is over. A run that was stopped notifies nobody. */
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
