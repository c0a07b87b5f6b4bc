import { uploadResponse } from '../../contract/records.ts'
import type { CapabilitiesReader } from '../capabilities/capabilities.ts'
import type { ServiceClient, UploadRequest } from '../service-client.ts'
import { libraryPathOf } from '../wire/addresses.ts'
import { jsonOf } from '../wire/answer-or-refusal.ts'
import type { FileBody, Send } from '../wire/request.ts'

const readUploaded = jsonOf(uploadResponse, [201, 200])

/** Repeats an upload only if the service cannot have stored it. */
export function uploadEndpoints(send: Send, readCapabilities: CapabilitiesReader): Pick<ServiceClient, 'uploadFile'> {
  return {
    async uploadFile(upload, signal) {
      const directoryPath = libraryPathOf(upload.directoryPath)
      const { field } = (await readCapabilities(signal)).uploadDirectoryField
      return send({
        target: { kind: 'route', route: 'uploadFile', values: { library: upload.libraryId } },
        verb: 'upload',
        subject: upload.fileName,
        right: 'resource.create',
        retry: 'if-without-effect',
        body: fileBody(upload, field === undefined ? [] : [[field, directoryPath]]),
        read: readUploaded,
        signal,
      })
    },
  }
}

function fileBody(upload: UploadRequest, fields: FileBody['fields']): FileBody {
  return {
    kind: 'file',
    fileName: upload.fileName,
    mime: upload.mime,
    sizeBytes: upload.sizeBytes,
    fields,
    open: upload.openBody,
    fence: upload.fence,
  }
}
