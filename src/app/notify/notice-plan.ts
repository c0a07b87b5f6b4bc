import { hostname } from 'node:os'
import type { NoticePlan } from '../../sync/notify/notifications.ts'
import type { NotifySettings } from '../settings/settings.ts'
import { type ChannelInput, openChannels } from './open-channels.ts'

/** What the settings say about notices; undefined when nobody is to be told. */
export function planNotices(settings: NotifySettings, input: ChannelInput): NoticePlan | undefined {
  const channels = openChannels(settings, input)
  return channels.length === 0 ? undefined : { channels, overdueMs: settings.noSuccessForMs, host: hostname() }
}
