import { ok, warning } from '../../../rules/doctor/finding.ts'
import { chooseEmbedder } from '../../service-client/choose-embedder.ts'
import type { EmbedderSettings } from '../../settings/settings.ts'
import type { Check } from '../check.ts'
import { given } from '../unchecked.ts'

const NOT_INSTALLED = 'offline, but its optional packages are not installed: searches match terms only'

/** Whether the embedded library can start with its embedder: the folder of a model, its packages, or the key of an endpoint. */
export const embedder: Check = {
  name: 'embedder',
  run: async (context) => {
    const settings = await given(context.settings(), 'configuration')
    if (settings.service.kind === 'configured') return []
    const { kind } = chooseEmbedder(settings.embedder, context.redactor)
    if (kind !== 'offline') return [ok(describe(settings.embedder))]
    const { isOfflineEmbedderInstalled } = await import('../../../embedded/embedding/offline/open-offline-embedder.ts')
    return [isOfflineEmbedderInstalled() ? ok('offline, for English') : warning(NOT_INSTALLED, 'npm install -g shelfd')]
  },
}

function describe(embedder: EmbedderSettings): string {
  if (embedder.kind === 'folder') return `the model in "${embedder.folder}"`
  if (embedder.kind === 'endpoint') return `${embedder.model} at ${embedder.url}`
  return 'none: searches match terms only'
}
