import type { FaultRow } from './rows.ts'

/** Faults of the service and of the network before it. */
export const faultsOfTheService: readonly FaultRow[] = [
  {
    id: 'F-SV-01',
    happens: 'the service does not answer: refused, no such name, no handshake',
    answer: 'tried again with growing delays, by one request for all',
    class: 'retry',
    shownBy: {
      'remote/policies/retry.test.ts': [
        'an unreachable service is probed by one request for all',
        'a refused connection ends as unreachable',
      ],
      'remote/wire/transport.test.ts': ['a service that cannot be reached is temporary: %s'],
      'remote/endpoints/uploads.test.ts': ['an upload that reaches nobody is not in doubt'],
    },
  },
  {
    id: 'F-SV-02',
    happens: 'the certificate is not trusted',
    answer: 'refused with exit 7 and what to do; never insecure',
    class: 'operator',
    shownBy: {
      'remote/wire/transport.test.ts': ['a refused certificate is final: %s'],
      'journeys/network-messages.test.ts': ['$obstacle is named with what to do'],
      'journeys/office-network.test.ts': [
        'no variable of Node switches off the certificate check',
        'an unknown authority is refused by name, with caFile as remedy',
        'an expired or early certificate is refused with its dates',
        'a certificate of another host is refused with its names',
      ],
    },
  },
  {
    id: 'F-SV-03',
    happens: 'the connection breaks before a byte of the request has left',
    answer: 'tried again, without a doubt',
    class: 'retry',
    shownBy: {
      'remote/endpoints/uploads.test.ts': ['an upload that reaches nobody is not in doubt'],
      'journeys/office-network.test.ts': ['uploads that a proxy refuses are not in doubt'],
    },
  },
  {
    id: 'F-SV-04',
    happens: 'the connection breaks during an upload or before its answer',
    answer: 'the upload is in doubt',
    class: 'doubt',
    shownBy: {
      'remote/endpoints/uploads.test.ts': [
        'an upload reset after %i bytes is in doubt',
        'an upload is in doubt, and not sent again, after %s',
      ],
      'journeys/real-proxy.test.ts': ['an upload whose tinyproxy dies is in doubt and stored once'],
      'sync/upload/uploads.test.ts': ['an upload whose answer is lost is found and never sent twice (P4)'],
    },
  },
  {
    id: 'F-SV-05',
    happens: 'an answer comes in drips, or never ends',
    answer: 'cut at a deadline of our own; an upload is in doubt',
    class: 'retry',
    shownBy: {
      'remote/wire/transport.test.ts': ['a drip-fed answer is cut at its deadline'],
      'remote/endpoints/endpoints.test.ts': ['a download fails when it only drips', 'a download fails when it stalls'],
      'remote/endpoints/uploads.test.ts': ['an upload without an answer in time is in doubt, sent %s'],
    },
  },
  {
    id: 'F-SV-06',
    happens: '401: the credential is refused',
    answer: 'everything stops with exit 7; a daemon asks again at intervals',
    class: 'halt',
    shownBy: {
      'sync/upload/uploads.test.ts': ['a refused credential stops all uploads'],
      'journeys/identity.test.ts': ['a credential revoked during a run stops the run'],
      'sync/continuous/service-connection.test.ts': ['an idle connection learns that the credential was revoked'],
    },
  },
  {
    id: 'F-SV-07',
    happens: '403: a right is missing',
    answer:
      'if the right is really missing, that kind of work stops for that library, with exit 7; otherwise it is a problem of that item',
    class: 'operator',
    shownBy: {
      'remote/wire/transport.test.ts': ['a refusal names the right that is missing'],
      'journeys/identity.test.ts': [
        'a credential without the right to create is refused',
        'a credential without the right to create directories is refused',
      ],
      'journeys/poison.test.ts': [
        'a bad answer to one upload leaves the other files alone',
        'a bad answer to one poll leaves the other files alone',
        'a bad answer to one directory leaves the others alone',
      ],
    },
  },
  {
    id: 'F-SV-08',
    happens: '404 while polling',
    answer: 'gone remotely: a problem, never sent again',
    class: 'operator',
    shownBy: {
      'sync/ingestion/follow-ingestion.test.ts': ['a resource that is gone (404) is never sent again'],
    },
  },
  {
    id: 'F-SV-09',
    happens: '409 where a directory is made',
    answer: 'a look in the listing decides whether it is there',
    class: 'accepted',
    shownBy: {
      'remote/endpoints/endpoints.test.ts': [
        'createDirectory takes a conflict with a listing for existing',
        'createDirectory reports a conflict that no listing confirms',
      ],
    },
  },
  {
    id: 'F-SV-10',
    happens: '413 or 422: a content is refused',
    answer:
      'a problem of that content with the reasons of the service for its fields, not tried again before its quarantine is over',
    class: 'operator',
    shownBy: {
      'remote/endpoints/uploads.test.ts': [
        'a refused upload shows the reason that the service gives for a field',
        'an upload refused with %i is not in doubt',
      ],
      'sync/upload/uploads.test.ts': ['a refused content is reported, quarantined and not sent again'],
      'rules/quarantine.test.ts': [
        'quarantines grow fivefold from 25 s to a day',
        'a content that is too large has the longest quarantine',
      ],
      'sync/doubts/attempts.test.ts': ['a long run sends a refused content once, also for two mirrors'],
    },
  },
  {
    id: 'F-SV-11',
    happens: '429: too many requests',
    answer: 'everyone waits, at least as long as asked',
    class: 'retry',
    shownBy: {
      'remote/policies/retry.test.ts': ['Retry-After is a lower bound for all requests: %s'],
      'remote/endpoints/uploads.test.ts': ['an upload is sent again after 429'],
    },
  },
  {
    id: 'F-SV-12',
    happens: '500, 502, 503 or 504 to a request that only reads',
    answer: 'tried again with growing delays until the deadline',
    class: 'retry',
    shownBy: {
      'remote/policies/retry.test.ts': ['a transient failure is tried again: %s', 'the delay grows from try to try'],
    },
  },
  {
    id: 'F-SV-13',
    happens: '500, 502, 503 or 504 to an upload',
    answer: 'in doubt: a look decides, then at most one more upload in the run',
    class: 'doubt',
    shownBy: {
      'remote/endpoints/uploads.test.ts': ['an upload is in doubt, and not sent again, after %s'],
      'journeys/failing-uploads.test.ts': ['an upload that meets $what is sent twice, then a problem'],
    },
  },
  {
    id: 'F-SV-14',
    happens:
      'HTML with 200 (a captive portal), JSON that is malformed, oversized or of other types, an id that is missing or empty',
    answer: 'counts as no answer, never as done; tried again if it is safe, in doubt for an upload',
    class: 'doubt',
    shownBy: {
      'remote/wire/transport.test.ts': [
        'an answer with %s is malformed',
        'bytes that are not HTTP are a malformed answer',
      ],
      'sync/upload/uploads.test.ts': ['an answer to an upload (%s) is doubt, not done'],
      'journeys/poison.test.ts': [
        'a bad answer to one upload leaves the other files alone',
        'a bad answer to one poll leaves the other files alone',
      ],
      'sync/doubts/looks.test.ts': ['a look keeps no connection open for pages of HTML'],
    },
  },
  {
    id: 'F-SV-15',
    happens: 'an answer is about another resource than asked for',
    answer: 'rejected: no receipt for two contents, no state of another record',
    class: 'doubt',
    shownBy: {
      'journeys/poison.test.ts': [
        "an upload answered with another resource's id is no receipt",
        'a poll answered for another resource ends nothing',
      ],
      'sync/upload/believed-ids.test.ts': [
        'contents that were all answered with one id are found under their own, %s',
        'contents that a service only claims to store under one id are named',
      ],
    },
  },
  {
    id: 'F-SV-16',
    happens: 'any 3xx',
    answer: 'an error that names the target; redirects are never followed',
    class: 'operator',
    shownBy: { 'remote/wire/transport.test.ts': ['a redirect (%i) is never followed with the file'] },
  },
  {
    id: 'F-SV-17',
    happens:
      'a listing repeats a cursor, contradicts itself (`truncated` and `next_cursor`), never ends or holds itself',
    answer: 'incomplete: nothing is reported as missing because of it',
    class: 'retry',
    shownBy: {
      'sync/list-remote.test.ts': [
        'folders that always hold one more end the listing',
        'a folder that holds itself ends the listing',
        'folders that double at each level end the listing',
        'pages that never end count against the whole library',
        'a consistent library is complete to its deepest folder',
      ],
      'remote/endpoints/paging.test.ts': [
        'a listing with %s is refused as incomplete',
        'a listing that never ends is ended',
      ],
      'sync/report/report.test.ts': ['a page %s makes its files unknown, never missing (P11)'],
    },
  },
  {
    id: 'F-SV-18',
    happens: 'one id is listed at two paths',
    answer: 'two locations of one resource',
    class: 'accepted',
    shownBy: {
      'sync/odd-answers.test.ts': ['one id listed at two paths is one resource with two locations'],
    },
  },
  {
    id: 'F-SV-19',
    happens: 'an answer has unknown fields',
    answer: 'the fields are ignored',
    class: 'accepted',
    shownBy: { 'sync/odd-answers.test.ts': ['answers with unknown fields are read'] },
  },
  {
    id: 'F-SV-20',
    happens: 'an unknown state of processing',
    answer: 'an error of that resource, reported with the state, never done',
    class: 'operator',
    shownBy: {
      'sync/ingestion/follow-ingestion.test.ts': [
        'a resource is searchable for two statuses only (P6)',
        'an unknown status is reported bounded and escaped',
      ],
    },
  },
  {
    id: 'F-SV-21',
    happens: 'one item is always answered badly, whatever the operation and the answer',
    answer: 'it is a problem of that item; all others are done',
    class: 'operator',
    shownBy: {
      'journeys/poison.test.ts': [
        'a bad answer to one upload leaves the other files alone',
        'a bad answer to one poll leaves the other files alone',
        'a bad answer to one directory leaves the others alone',
        'a candidate that cannot be compared hides no arrived upload',
      ],
      'sync/directories/create-directories.test.ts': [
        'directories that always fail keep no deeper one from being created',
      ],
      'journeys/one-mirror.test.ts': ['a mirror %s does not stop the next one'],
    },
  },
  {
    id: 'F-SV-22',
    happens: 'a library is deleted at the service while files are sent to it',
    answer: 'no more uploads than were under way; the mirror stops and reports it, others continue',
    class: 'halt',
    shownBy: {
      'sync/directories/missing-places.test.ts': [
        'a library deleted during a run costs only the uploads under way',
        'a library deleted during a run stops its directories at the first',
        'a 404 of one upload is a problem of its file',
      ],
      'journeys/one-mirror.test.ts': ['a missing library does not stop the next mirror'],
    },
  },
  {
    id: 'F-SV-23',
    happens: 'a directory that was made is gone from the service',
    answer: 'it is created again, once in a run, when an upload or a scrub misses it',
    class: 'retry',
    shownBy: {
      'sync/directories/missing-places.test.ts': [
        'a directory lost at an upload is made again after a %i',
        'a directory lost again is made once more, then a problem',
        'a directory lost unnoticed is made again by the next scrub, once',
        'a directory is not made again beside an incomplete listing',
      ],
    },
  },
  {
    id: 'F-SV-24',
    happens: 'the service demands a client certificate, or refuses the one that it gets',
    answer: 'refused with exit 7 and what to do; files that do not fit are errors of the configuration',
    class: 'operator',
    shownBy: {
      'journeys/client-certificate.test.ts': [
        'a sync shows the client certificate and works',
        'a proxied connection shows the client certificate',
        '%s is named with what to do',
        '%s is a configuration error',
      ],
      'remote/wire/transport.test.ts': ['the page of nginx is a refused client certificate: %s'],
    },
  },
]
