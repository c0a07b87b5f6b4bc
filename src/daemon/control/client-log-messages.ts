/** Log messages about the requests of clients. */
export const CLIENT_LOG_MESSAGES = {
  beginSync: 'a client began a sync',
  endSync: 'the sync of a client has ended',
  pause: 'a client paused uploads',
  resume: 'a client resumed uploads',
} as const
