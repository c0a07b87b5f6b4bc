import { uploadResponse } from '../../contract/records.ts'
import type { CapabilitiesReader } from '../capabilities/capabilities.ts'
import type { ServiceClient } from '../service-client.ts'
import { libraryPathOf } from '../wire/addresses.ts'
import { jsonOf } from '../wire/answer-or-refusal.ts'
import type { FileBody, Send } from '../wire/request.ts'

const readUploaded = jsonOf(uploadResponse, [201, 200])

/** Repeats an upload only if the service cannot have stored it. */
export function uploadEndpoints(send: Send, readCapabilities: CapabilitiesReader): Pick<ServiceClient, 'uploadFile'> {
  return {
    async uploadFile(upload, signal) {
      const { libraryId, fileName, mime, sizeBytes, openBody, fence } = upload
      const directoryPath = libraryPathOf(upload.directoryPath)
      const { field } = (await readCapabilities(signal)).uploadDirectoryField
      const fields: FileBody['fields'] = field === undefined ? [] : [[field, directoryPath]]
      return send({
        target: { kind: 'route', route: 'uploadFile', values: { library: libraryId } },
        verb: 'upload',
        subject: fileName,
        right: 'resource.create',
        retry: 'if-without-effect',
        body: { kind: 'file', fileName, mime, sizeBytes, fields, open: openBody, fence },
        read: readUploaded,
        signal,
      })
    },
  }
}
