import { docsPage } from '../../app/files/paths-on-disk.ts'
import { systemClock } from '../../foundation/clock.ts'
import { messageOf, UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { describeTest } from '../../rules/notices.ts'
import type { Channel, Delivery } from '../../sync/operator/notifications.ts'
import { defineCommand } from '../command.ts'

export const command = defineCommand({
  description: [
    'Sends a test message through every channel in "notify" of the configuration, and prints for each whether it was sent. The command',
    'checks and records nothing else. shelfd itself sends a message when something fails, and when it works again.',
  ].join('\n'),
  settingFlags: [],
  examples: [['notify test', 'try the command and the webhooks of the configuration']],
  exits: ['done', 'failed'],
  async run(context) {
    const { planNotices } = await import('../../app/notify/channels.ts')
    const { redactor, signal, io } = context
    const plan = planNotices(context.settings.notify, { env: io.env, redactor })
    if (!plan) {
      const page = docsPage('notifications.md')
      const todo = `add a command or webhooks to "notify" of the configuration, as "${page}" describes`
      throw new UsageError(
        'bad-configuration',
        `Cannot send a test message: the configuration names no channel; ${todo}`,
      )
    }
    const message = describeTest({ host: plan.host, nowMs: systemClock.nowMs() })
    const results = await Promise.all(
      plan.channels.map(async (channel) => {
        const delivery = await deliver(() => channel.send(message, signal))
        return { channel: channel.name, sent: delivery.kind === 'sent', reason: reasonOf(delivery) }
      }),
    )
    if (context.json) context.printJson({ channels: results })
    else for (const { channel, reason } of results) context.printText(`${escapeText(channel)}: ${reason ?? 'sent'}`)
    return results.every(({ sent }) => sent) ? 'done' : 'failed'
  },
})

/** Sends through one channel; returns an error as a result, so that the other channels are tried nevertheless. */
async function deliver(send: () => ReturnType<Channel['send']>): Promise<Delivery> {
  try {
    return await send()
  } catch (error) {
    return { kind: 'not-sent', reason: messageOf(error) }
  }
}

function reasonOf(delivery: Delivery): string | null {
  if (delivery.kind === 'sent') return null
  return `${delivery.kind === 'doubt' ? 'not known whether it arrived' : 'not sent'}: ${escapeText(delivery.reason)}`
}
