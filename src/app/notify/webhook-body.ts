import type { NoticeMessage } from '../../rules/notices.ts'
import type { WebhookSettings } from '../settings/settings.ts'

interface Post {
  readonly url: URL
  readonly contentType: string
  readonly body: string
}

/** Words a message as the service behind a webhook takes it. */
export function postOf({ url, format }: WebhookSettings, message: NoticeMessage): Post {
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
