import type { FaultRow } from './rows.ts'

/** Faults of the service and of the network before it. */
export const faultsOfTheService: readonly FaultRow[] = [
  {
    id: 'F-SV-01',
    happens: 'the service does not answer: refused, no such name, no handshake',
    answer: 'tried again with growing delays, by one request for all',
    class: 'retry',
  },
  {
    id: 'F-SV-02',
    happens: 'the certificate is not trusted',
    answer: 'refused with exit 7 and what to do; never insecure',
    class: 'operator',
  },
  {
    id: 'F-SV-03',
    happens: 'the connection breaks before a byte of the request has left',
    answer: 'tried again, without a doubt',
    class: 'retry',
  },
  {
    id: 'F-SV-04',
    happens: 'the connection breaks during an upload or before its answer',
    answer: 'the upload is in doubt',
    class: 'doubt',
  },
  {
    id: 'F-SV-05',
    happens: 'an answer comes in drips, or never ends',
    answer: 'cut at a deadline of our own; an upload is in doubt',
    class: 'retry',
  },
  {
    id: 'F-SV-06',
    happens: '401: the credential is refused',
    answer: 'everything stops with exit 7; a daemon asks again at intervals',
    class: 'halt',
  },
  {
    id: 'F-SV-07',
    happens: '403: a right is missing',
    answer:
      'if the right is really missing, that kind of work stops for that library, with exit 7; otherwise it is a problem of that item',
    class: 'operator',
  },
  {
    id: 'F-SV-08',
    happens: '404 while polling',
    answer: 'gone remotely: a problem, never sent again',
    class: 'operator',
  },
  {
    id: 'F-SV-09',
    happens: '409 where a directory is made',
    answer: 'a search in the listing decides whether it is there',
    class: 'accepted',
  },
  {
    id: 'F-SV-10',
    happens: '413 or 422: a content is refused',
    answer:
      'a problem of that content with the reasons of the service for its fields, not tried again before its quarantine is over',
    class: 'operator',
  },
  {
    id: 'F-SV-11',
    happens: '429: too many requests',
    answer: 'everyone waits, at least as long as asked',
    class: 'retry',
  },
  {
    id: 'F-SV-12',
    happens: '500, 502, 503 or 504 to a request that only reads',
    answer: 'tried again with growing delays until the deadline',
    class: 'retry',
  },
  {
    id: 'F-SV-13',
    happens: '500, 502, 503 or 504 to an upload',
    answer: 'in doubt: a search decides, then at most one more upload in the run',
    class: 'doubt',
  },
  {
    id: 'F-SV-14',
    happens:
      'HTML with 200 (a captive portal), JSON that is malformed, oversized or of other types, an id that is missing or empty',
    answer: 'counts as no answer, never as done; tried again if it is safe, in doubt for an upload',
    class: 'doubt',
  },
  {
    id: 'F-SV-15',
    happens: 'an answer is about another resource than asked for',
    answer: 'rejected: no receipt for two contents, no state of another record',
    class: 'doubt',
  },
  {
    id: 'F-SV-16',
    happens: 'any 3xx',
    answer: 'an error that names the target; redirects are never followed',
    class: 'operator',
  },
  {
    id: 'F-SV-17',
    happens:
      'a listing repeats a cursor, contradicts itself (`truncated` and `next_cursor`), never ends or holds itself',
    answer: 'incomplete: nothing is reported as missing because of it',
    class: 'retry',
  },
  {
    id: 'F-SV-18',
    happens: 'one id is listed at two paths',
    answer: 'two locations of one resource',
    class: 'accepted',
  },
  { id: 'F-SV-19', happens: 'an answer has unknown fields', answer: 'the fields are ignored', class: 'accepted' },
  {
    id: 'F-SV-20',
    happens: 'an unknown state of processing',
    answer: 'an error of that resource, reported with the state, never done',
    class: 'operator',
  },
  {
    id: 'F-SV-21',
    happens: 'one item is always answered badly, whatever the operation and the answer',
    answer: 'it is a problem of that item; all others are done',
    class: 'operator',
  },
  {
    id: 'F-SV-22',
    happens: 'a library is deleted at the service while files are sent to it',
    answer: 'no more uploads than were under way; the mirror stops and reports it, others continue',
    class: 'halt',
  },
  {
    id: 'F-SV-23',
    happens: 'a directory that was made is gone from the service',
    answer: 'it is created again, once in a run, when an upload or a scrub misses it',
    class: 'retry',
  },
  {
    id: 'F-SV-24',
    happens: 'the service demands a client certificate, or refuses the one that it gets',
    answer: 'refused with exit 7 and what to do; files that do not fit are errors of the configuration',
    class: 'operator',
  },
]
