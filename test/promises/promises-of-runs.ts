import type { PromiseRow } from './rows.ts'

/** Promises from run to run: identity, guards, the state and its bounds. The code cites the numbers. */
export const promisesOfRuns: readonly PromiseRow[] = [
  {
    id: 'P14',
    holds:
      'if the store is lost or new beside a library that holds our directory, or if more contents are new than the limits allow, shelfd stops and asks instead of sending everything again.',
    except: [
      'With `--adopt`, shelfd adopts resources that it finds by name, type and bytes; it sends files that were renamed meanwhile, which the service answers as duplicates.',
    ],
    shownBy: {
      'journeys/guards.test.ts': [
        'a new store beside a full library asks before sending',
        'a new store asks also if all files lie in the inbox (%s: %s)',
        "a new store adopts the library's resources and sends none again",
      ],
      'journeys/daemon-guards.test.ts': ['a daemon ends when its store is deleted, the next one asks (P14)'],
      'journeys/limits-and-waiting.test.ts': [
        'a limit holds back files that the next run sends',
        'a limit of a day counts across runs',
      ],
      'rules/limits.test.ts': ['a run that obeys the quota never exceeds it'],
      'sync/gone-back.test.ts': [
        'a state gone back sends nothing that was acknowledged',
        'a new state adopts a full library and sends nothing, once confirmed (P14)',
      ],
    },
  },
  {
    id: 'P15',
    holds:
      'origin, tenant, library and directory of a mirror are those of its first use; shelfd refuses others with exit 7, and sends and writes nothing.',
    except: ['`--accept-root` accepts another directory.'],
    shownBy: {
      'journeys/identity.test.ts': [
        'a pinned mirror refuses another origin, also of the same library',
        'a pinned mirror refuses another tenant',
        'a pinned mirror refuses another library',
        'a pinned mirror refuses a library that its credential cannot read',
        'a pinned mirror refuses another directory at its path',
        'a pinned mirror refuses another embedded library',
      ],
      'journeys/other-disk.test.ts': [
        'another disk in memory at the same mount point is not sent, however few files were there',
      ],
      'local/read/open-root.test.ts': ['a file system without birth times is known by its UUID and its size'],
      'rules/mirror-roots.test.ts': ['volumes are compared by their identifiers, also when one was resized'],
      'sync/swapped-root.test.ts': [
        'another stick of another size at the same place is refused',
        'a mirror of an older state gains the pin of its file system at the next good pass',
      ],
      'sync/continuous/mirror-controller.test.ts': ['the pin of a mirror is compared over every new connection'],
    },
  },
  {
    id: 'P16',
    holds:
      'a store has one writer: a second process ends with exit 11 and changes nothing, and a crash leaves no lock.',
    except: ['A file system whose locks do not work, as some network mounts: keep the state on a local disk.'],
    shownBy: {
      'store/opening.test.ts': [
        'a store is held by one process at a time (P16)',
        'one of many processes wins the lock, the others exit 0 or 11',
        'the lock is released when opening fails',
      ],
      'store/lock.test.ts': [
        'a damaged lock file lets nobody else in',
        'a damaged lock file does not prevent opening a closed store',
        'a lock file deleted during a run lets no other process in',
      ],
      'journeys/exit-codes.test.ts': ['a store held by another instance exits 11'],
      'endurance/daemon-weather.test.ts': ['a daemon ended at random loses nothing and leaves no lock'],
    },
  },
  {
    id: 'P17',
    holds: 'if nothing changes, the next run sends nothing, creates no directory and changes nothing of the state.',
    except: ['The list of past runs grows by one.', 'Failed contents are tried again when their quarantine is over.'],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'endurance/kills.test.ts': ['a killed process loses nothing and sends nothing twice (P1-P4)'],
      'journeys/first-and-later-runs.test.ts': ['a second run sends nothing and changes nothing (P17)'],
      'endurance/chaos.test.ts': ['a faulty service gets every content exactly once (seed %i)'],
    },
  },
  {
    id: 'P18',
    holds: 'a run that was cut off and repeated ends like an undisturbed run.',
    except: ['The second locations of P4.'],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'endurance/kills.test.ts': ['a killed process loses nothing and sends nothing twice (P1-P4)'],
      'journeys/exit-codes.test.ts': ['an interrupted sync exits 130, and the next run completes it'],
      'journeys/under-way.test.ts': ['a batch interrupted by a kill continues at the next start'],
    },
  },
  {
    id: 'P19',
    holds: 'each scanned entry is in exactly one class of the report, and the counts add up on both sides.',
    except: [],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'sync/report/report.test.ts': [
        'every file is in one class after any changes (P19, seed %i)',
        'each class of the report is reached by what it means',
      ],
      'rules/report-class.test.ts': ['a file is in exactly one known class'],
      'rules/compare-directory.test.ts': ['the comparison accounts for every name exactly once'],
      'endurance/daemon-churn.test.ts': ['a tree changed at random ends exactly mirrored'],
    },
  },
  {
    id: 'P20',
    holds: 'correctness does not depend on the wall clock: it may jump by ten years, forwards or back.',
    except: [
      'Times of day by definition: schedules, maintenance windows, the limit of a day, and when a certificate or a token ends.',
    ],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'sync/clock-jumps.test.ts': [
        'jumps of ten years between runs send each content once',
        'a content refused while the clock was ahead is tried again',
        'uploads that another process made while the clock was ahead count towards no limit',
        'a clock set %s gives the limits of a day and of a run no more room',
      ],
      'rules/clock-history.test.ts': [
        'no 24 hours of either clock hold more uploads than the limit, however the wall clock is set',
      ],
      'daemon/supervisor.test.ts': [
        'uploads stop and continue within a second when the clock is set into or out of a window',
      ],
      'rules/scan-times.test.ts': ['a scrub waits no longer than its interval, from %s'],
      'local/watch/settler.test.ts': ['a clock set by %i ms delays settling once'],
      'daemon/schedule/schedule.test.ts': [
        'a clock set back by years stops no schedule',
        'a machine without a clock misses and repeats no batch',
      ],
      'sync/continuous/mirror-controller.test.ts': ['a modification time in the future does not prevent an upload'],
      'daemon/heartbeat.test.ts': ['a clock that was set back is reported'],
      'sync/kept-retry-after.test.ts': ['a kept Retry-After is not extended by a clock that jumps: %s'],
    },
  },
  {
    id: 'P21',
    holds:
      'uploads, descriptors, memory, log and retries have a bound, and `Retry-After` (seconds or a date) is a lower bound that holds for all requests.',
    except: [
      'The store grows with the number of files and contents it knows.',
      'For processes that start later, a requested wait of more than a week ends after a week; commands that ask the service by hand keep only their own.',
    ],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'sync/kept-retry-after.test.ts': ['a kept Retry-After holds for the process that follows'],
      'app/service-client/lazy-service.test.ts': ['a wait that the service asked for holds for the next client'],
      'journeys/no-answer.test.ts': ['later runs report the same wait without a request'],
      'app/open-engine.test.ts': ['a new process keeps the wait that the service asked of the one before'],
      'local/scan/scanned-files.test.ts': ['only one portion of a large directory is unpacked at a time'],
      'sync/observe/large-directory.test.ts': ['a directory of many files is observed in portions'],
      'embedded/ingest/child-process.test.ts': ['an extraction process that takes too much memory is ended'],
      'sync/list-remote.test.ts': ['folders that double at each level end the listing'],
      'remote/policies/retry.test.ts': [
        'Retry-After is a lower bound for all requests: %s',
        'Retry-After holds for the clients beside and after',
        'Retry-After outlasts answers to requests sent before',
        'the delay grows once however many requests were throttled',
        'a transient failure ends after its attempts as temporary: %i',
      ],
      'remote/endpoints/paging.test.ts': [
        'a hundred thousand consistent pages are read',
        'a listing that never ends is ended',
      ],
      'journeys/limits-and-waiting.test.ts': [
        'resources in ingestion never exceed their limit',
        'a run of several mirrors never exceeds the limit of ingestion, also without waiting',
        'a daemon never exceeds the limit of ingestion over all its mirrors',
      ],
      'local/read/read-verified.test.ts': ['no descriptor outlives a complete or stopped read'],
      'local/watch/settler.test.ts': ['paths beyond the bound are not taken'],
      'daemon/without-repeats.test.ts': ['the memory of repeated lines stays bounded'],
      'endurance/daemon-weather.test.ts': ['an unsteady service gets each content once, with few log lines'],
    },
  },
  {
    id: 'P22',
    holds: 'shelfd sends the credential only in the header `Authorization` and only to the configured origin.',
    except: [
      'Its place on your computer: the token file, the variable or the output of the command is yours to guard.',
    ],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'journeys/credential-secrecy.test.ts': [
        'a credential repeated in escapes is shown nowhere (P22)',
        'the credential stands in one header and nowhere else (P22)',
        'an address in %s is refused, and no command prints its password',
      ],
      'remote/wire/transport.test.ts': [
        'a request carries the credential in one header only',
        'the credential never appears in logs or errors',
        'a redirect (%i) is never followed with the file',
        'a refusal never shows a credential that the service repeats',
      ],
      'cli/service-commands.test.ts': ['the token is in no output of any command'],
      'journeys/office-network.test.ts': ['only the proxy receives its credentials'],
    },
  },
  {
    id: 'P23',
    holds:
      'shelfd refuses a store of a newer schema before it writes anything; it backs an older one up, then migrates it in one transaction.',
    except: [],
    shownBy: {
      'foundation/sqlite/open-database.test.ts': [
        'a migration cut off anywhere is whole or has not begun (P23)',
        'a migration killed during its backup leaves no half backup (P23)',
      ],
      'store/opening.test.ts': [
        'a store of a newer schema is left alone (P23)',
        'an older store is backed up and migrated, also for reading (P23)',
      ],
      'journeys/exit-codes.test.ts': ['a store of a newer version exits 78'],
    },
  },
  {
    id: 'P24',
    holds:
      'shelfd never uses a damaged, lost or older store and never silently creates a new one: it exits with 78 and explains the way back.',
    except: [
      'A snapshot of the whole file system that is rolled back also rolls back the generation record beside the store.',
    ],
    shownBy: {
      'journeys/real-process.test.ts': ['a write-ahead log cut after a kill repeats no upload'],
      'store/opening.test.ts': [
        'a store whose database is gone is refused',
        'an older copy of a store is refused',
        'a store whose write-ahead log is missing is refused',
        'a store that was cut is refused',
        'a store with a page of garbage is refused',
        'a store with flipped bits never gives wrong answers',
      ],
      'store/integrity/gone-back.test.ts': [
        'a log cut after a kill (%s) loses no receipt in silence (P1, P24)',
        'an older copy of the database (%s) is refused, whenever it was made',
        'a database beside an older log is refused',
        'a flipped bit is found by readers and writers (P24)',
        'a flipped bit is found even if no time changed',
        'a log that lacks any receipt is refused',
        'a store that is %s in use takes no more writes',
      ],
      'sync/gone-back.test.ts': [
        'a restored state recognises a file that comes back later',
        'a restored state reads each of many resources of one name once',
        'a restored state sends nothing that it cannot look for',
        'a restored state finds an upload behind a thousand others of its name',
        'a killed process costs no look',
      ],
      'journeys/restored-state.test.ts': [
        'a state restored from a backup is reported until the next sync',
        'every command refuses an older store until its generation is removed',
      ],
      'journeys/exit-codes.test.ts': ['a lost store whose generation file remains exits 78'],
    },
  },
]
