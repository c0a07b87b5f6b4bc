import type { Download, ServiceClient } from '../service-client.ts'
import type { Send, Target } from '../wire/request.ts'
import { readDownload } from './read-download.ts'
import { readViewUrl, viewBody } from './resource-endpoints.ts'

type AssetEndpoints = Pick<ServiceClient, 'downloadAsset' | 'downloadRepresentation' | 'createAssetViewUrl'>

export function assetEndpoints(send: Send): AssetEndpoints {
  const download = (target: Target, asset: string, signal: AbortSignal | undefined): Promise<Download> =>
    send({
      target,
      verb: 'download the asset',
      subject: asset,
      right: 'read',
      retry: 'always',
      streamed: true,
      read: readDownload,
      signal,
    })

  return {
    downloadAsset: (asset, signal) =>
      download({ kind: 'route', route: 'downloadAsset', values: { asset } }, asset, signal),
    downloadRepresentation: (asset, representation, timestampSeconds, signal) => {
      const route = representation === 'scene' ? 'downloadScene' : 'downloadFrame'
      const query = [['timestamp_seconds', String(timestampSeconds)]] as const
      return download({ kind: 'route', route, values: { asset }, query }, asset, signal)
    },
    createAssetViewUrl: (asset, view, signal) =>
      send({
        target: { kind: 'route', route: 'createAssetViewUrl', values: { asset } },
        verb: 'get a view URL of the asset',
        subject: asset,
        right: 'read',
        retry: 'always',
        body: { kind: 'json', value: viewBody(view) },
        read: readViewUrl,
        signal,
      }),
  }
}
