import type { DaemonStatus } from './daemon-status.ts'

/** One line for people, shown by the service manager. */
export function describeStatus({ service, mirrors, uploading, inIngestion, isStoreFull }: DaemonStatus): string {
  const troubled = mirrors.filter(({ state }) => state === 'halted')
  const parts = [
    `${mirrors.length} ${mirrors.length === 1 ? 'mirror' : 'mirrors'}`,
    troubled.length > 0 ? `halted: ${troubled.map(({ name }) => name).join(', ')}` : '',
    isStoreFull ? 'the disk of the store is full' : '',
    service.state === 'away' ? 'the service is away' : '',
    service.state === 'refused' ? 'the credential was refused' : '',
    uploading > 0 ? `${uploading} uploading` : '',
    inIngestion > 0 ? `${inIngestion} in ingestion` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}
