import type { PromiseRow } from './rows.ts'

/** Promises about uploads and their answers. The code cites the numbers. */
export const promisesOfSending: readonly PromiseRow[] = [
  {
    id: 'P1',
    holds:
      'results that shelfd reported as done are on the disk: the resource id of an upload reported as stored survives a killed process and a power cut.',
    except: [
      'A disk that reports a write before it is durable.',
      'Facts that a scan can find again (names, times, hashes) are written without waiting for the disk; after a power cut the next scan finds them.',
    ],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'journeys/real-process.test.ts': ['a write-ahead log cut after a kill repeats no upload'],
      'store/integrity/gone-back.test.ts': [
        'a log cut after a kill (%s) loses no receipt in silence (P1, P24)',
        'a log that lacks any receipt is refused',
      ],
      'foundation/sqlite/open-database.test.ts': ['a connection waits for the disk after its first write too (P1)'],
      'store/opening.test.ts': [
        'a write is durable from the first one on (P1)',
        'a store recovers from its write-ahead log after a crash',
      ],
      'sync/upload/uploads.test.ts': [
        'a file is named as sent when that is committed (P1)',
        'a receipt is durable while another upload continues (P1)',
      ],
      'sync/upload/upload-stage.test.ts': [
        'results whose commit fails once are committed later, and counted once (P1)',
      ],
      'endurance/kills.test.ts': [
        'a killed process loses nothing and sends nothing twice (P1-P4)',
        'a killed embedded library starts again with every content once',
      ],
      'endurance/daemon-weather.test.ts': ['a daemon ended at random loses nothing and leaves no lock'],
    },
  },
  {
    id: 'P2',
    holds: 'no byte of an upload leaves before its intent (path, SHA-256, MIME type, size, attempt) is committed.',
    except: [],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'endurance/kills.test.ts': ['a killed process loses nothing and sends nothing twice (P1-P4)'],
      'sync/upload/uploads.test.ts': [
        'an intent is committed before the first byte of its upload (P2)',
        'every attempt of an upload has an intent of its own',
      ],
      'journeys/under-way.test.ts': ['an upload is in doubt only after its process is gone'],
    },
  },
  {
    id: 'P3',
    holds:
      'a library has at most one resource of ours for each SHA-256 and MIME type, and at most one upload of it is under way.',
    except: [
      'An upload whose answer was lost and that no look finds is sent once more; a service without a duplicate rule then has two.',
      'Two stores, say on two computers, do not know of each other: there only the duplicate rule of the service holds.',
    ],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'endurance/kills.test.ts': ['a killed process loses nothing and sends nothing twice (P1-P4)'],
      'endurance/chaos.test.ts': [
        'a faulty service gets every content exactly once (seed %i)',
        'lost answers cause no second resource without a duplicate rule',
      ],
      'sync/shared-contents.test.ts': [
        'a content that two mirrors begin to send at once is sent once',
        'a content in doubt in two mirrors is sent once more',
        'a content that another mirror is sending is sent once',
        'a look goes where the content was sent, whatever is configured now',
      ],
      'store/tables/queries.test.ts': ['a content is one for its bytes and type'],
      'sync/report/report.test.ts': ['every file is in one class after any changes (P19, seed %i)'],
    },
  },
  {
    id: 'P4',
    holds:
      'an upload whose answer is lost, cut, a 5xx or malformed is in doubt, neither done nor failed: a look decides, then it is sent at most once more in the run; if it is still not stored, it is a problem of its file with growing delays.',
    except: [
      'When a look finds nothing although the upload was stored, the second one is answered as a duplicate: the resource may then have a second location, and the report says so.',
    ],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'journeys/real-process.test.ts': ['a process stopped during an upload completes it afterwards'],
      'sync/shared-contents.test.ts': [
        'a content in doubt in two mirrors is sent once more',
        'a look goes where the content was sent, whatever is configured now',
      ],
      'endurance/kills.test.ts': ['a killed process loses nothing and sends nothing twice (P1-P4)'],
      'remote/endpoints/uploads.test.ts': [
        'an upload is in doubt, and not sent again, after %s',
        'an upload reset after %i bytes is in doubt',
        'an upload without an answer in time is in doubt, sent %s',
      ],
      'sync/upload/uploads.test.ts': [
        'an upload whose answer is lost is found and never sent twice (P4)',
        'a lost upload is found by a later run as well',
        'a lost upload is found by another mirror of the library',
        'a lost upload that no look finds is closed by its duplicate',
        'a lost upload is not mistaken for a file with other bytes',
        'an answer to an upload (%s) is doubt, not done',
      ],
      'journeys/failing-uploads.test.ts': [
        'an upload that meets $what is sent twice, then a problem',
        'an upload that arrived after all is found by a look',
        'every attempt of a failing upload counts towards the limits',
      ],
      'sync/doubts/looks.test.ts': [
        'a look compares all entries of the name before it sends again',
        'a candidate refused after two doubts names the file and sends nothing',
        'a listing %s without end sends nothing again and names the file',
      ],
      'rules/doubts.test.ts': [
        'a doubt has its reaction after $doubts doubts and $problemCount quarantines ($cause)',
        'an incomparable candidate blocks the upload or not: %s after %i doubts',
      ],
      'sync/doubts/attempts.test.ts': [
        'a long run sends a failing content twice at most',
        'a copy that gained its location without an answer is found, and not sent again',
        'a copy that does not arrive is sent again after pauses that grow, and named meanwhile',
        'a copy that cannot be looked for is not sent',
      ],
    },
  },
  {
    id: 'P5',
    holds:
      'a resource that is still being processed at the deadline keeps its id and is polled later, also by another process; it is not sent again because of that.',
    except: [],
    shownBy: {
      'sync/ingestion/follow-ingestion.test.ts': [
        'a resource that runs for 10,000 hours is sent once and polled to its end (P5)',
      ],
      'journeys/limits-and-waiting.test.ts': [
        'waiting ends at its deadline, and nothing is sent again',
        'a run with --no-wait leaves ingestion to the next run',
      ],
    },
  },
  {
    id: 'P6',
    holds:
      'only `completed` and `completed_with_warnings` count as searchable; `partial` and `failed` are reported to the operator, and a state that the interface does not name is an error.',
    except: [],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'sync/ingestion/follow-ingestion.test.ts': [
        'a resource is searchable for two statuses only (P6)',
        'an unknown status is reported bounded and escaped',
      ],
      'journeys/limits-and-waiting.test.ts': ['a bad end of ingestion (%s) is reported by later runs too'],
      'rules/report-class.test.ts': ['a file needs attention after every bad end'],
    },
  },
  {
    id: 'P7',
    holds:
      'the engine makes only requests that read or add: none deletes, moves or overwrites anything at the service.',
    except: [
      '`shelfd libraries delete`, which asks for the name of the library, and `shelfd api`, which sends any typed request.',
    ],
    shownBy: {
      'sync/requests.test.ts': ['the engine makes only requests that read or add (P7)'],
      'remote/wire/transport.test.ts': ['the client requests only what the interface names'],
      'journeys/mirror-forget.test.ts': ['forgetting a mirror deletes nothing, and --adopt creates nothing twice'],
      'cli/service-commands.test.ts': ['a library is deleted only by its name'],
    },
  },
]
