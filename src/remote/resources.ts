import { resourceRecord, viewUrl } from '../contract/records.ts'
import { jsonOf } from './answers.ts'
import { readDownload } from './downloads.ts'
import type { Send } from './request.ts'
import type { AssetView, ServiceClient } from './service-client.ts'

type ResourcesTopic = Pick<ServiceClient, 'showResource' | 'downloadResource' | 'createResourceViewUrl'>

const readResource = jsonOf(resourceRecord)
const readViewUrl = jsonOf(viewUrl)

/** Resources: show (4.13), download (4.15), view URL (4.16). */
export function resourcesTopic(send: Send): ResourcesTopic {
  return {
    showResource: (library, resource, signal) =>
      send({
        target: { kind: 'route', route: 'showResource', values: { library, resource } },
        verb: 'show the resource',
        subject: resource,
        right: 'read',
        repeat: 'always',
        read: readResource,
        signal,
      }),
    downloadResource: (resource, signal) =>
      send({
        target: { kind: 'route', route: 'downloadResource', values: { resource } },
        verb: 'download the resource',
        subject: resource,
        right: 'read',
        repeat: 'always',
        streamed: true,
        read: readDownload,
        signal,
      }),
    createResourceViewUrl: (resource, view, signal) =>
      send({
        target: { kind: 'route', route: 'createResourceViewUrl', values: { resource } },
        verb: 'get a view URL of the resource',
        subject: resource,
        right: 'read',
        repeat: 'always',
        body: { kind: 'json', value: viewBody(view) },
        read: readViewUrl,
        signal,
      }),
  }
}

/** The body of a view-URL request (4.5, 4.16); what isn't said is left to the service's defaults. */
export function viewBody(view: AssetView): object {
  return {
    representation: view.representation,
    timestamp_seconds: view.timestampSeconds,
    ttl_minutes: view.ttlMinutes,
    disposition: view.disposition,
  }
}
