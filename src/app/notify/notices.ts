import { hostname } from 'node:os'
import { causesOfRun } from '../../rules/notice-causes.ts'
import type { Engine } from '../../sync/engine.ts'
import { type NoticePlan, Notifications } from '../../sync/notifications.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import type { NotifySettings } from '../settings/settings.ts'
import { type ChannelInput, openChannels } from './channels.ts'

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
