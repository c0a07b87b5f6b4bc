import { escapeText } from '../../foundation/text/safe-text.ts'
import type { NoticeMessage } from '../../rules/notices.ts'
import type { Channel, Delivery } from '../../sync/notifications.ts'
import type { Redactor } from '../logging/redactor.ts'
import type { Environment } from '../settings/overrides.ts'
import type { EmailSettings, NotifySettings, WebhookSettings } from '../settings/settings.ts'

export interface ChannelInput {
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
      const { runProgram } = await import('./run-program.ts')
      const variables = { ...env, SHELFD_EVENT: event, SHELFD_SUBJECT: subject }
      return await runProgram({ program, args, input: `${text}\n`, env: variables, signal })
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
      const { postOf } = await import('./webhook-body.ts')
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
      const { runProgram } = await import('./run-program.ts')
      // -i: a line with a single dot does not end the message. The addresses are checked to be no flags.
      const args = ['-i', ...(from === undefined ? [] : ['-f', from]), '--', ...to]
      return await runProgram({ program: sendmail, args, input: mailOf(message, { to, from }), env, signal })
    },
  }
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
