import type { PromiseRow } from './rows.ts'

/** Promises about reading mirrored directories and about missing files. The code cites the numbers. */
export const promisesOfReading: readonly PromiseRow[] = [
  {
    id: 'P8',
    holds: 'shelfd writes nothing to the mirrored directories: contents, names, times and inodes stay unchanged.',
    except: ['The time of the last access, where the file system keeps it.'],
    shownBy: {
      'journeys/real-disks.test.ts': ['a read-only disk is mirrored (P8)'],
      'endurance/kills.test.ts': ['a killed process loses nothing and sends nothing twice (P1-P4)'],
      'sync/observe/odd-files.test.ts': ['the mirrored directory stays as it was, to the last time'],
    },
  },
  {
    id: 'P9',
    holds:
      'no byte and no name from outside the directory of a mirror is hashed, recorded or sent: shelfd follows no symbolic links, and checks the real path of each opened file before it reads it.',
    except: [
      'A hard link is the file itself: its bytes belong to every directory that names it.',
      'What is mounted inside the directory belongs to it, unless `oneFileSystem` is set.',
    ],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'sync/observe/swapped-directory.test.ts': ['no name from outside a mirror is recorded or made'],
      'local/scan/list-guarded.test.ts': ['a racer never gets an outside name listed'],
      'local/read/open-guarded.test.ts': [
        'a racer never gets outside bytes read',
        'a link at the end of a path is refused',
        'a parent that leads outside is refused',
        'pipes, sockets and directories never block',
      ],
      'journeys/hostile-names.test.ts': ['links and pipes are left out and never block'],
    },
  },
  {
    id: 'P10',
    holds:
      'shelfd sends exactly the bytes that it hashed and declared; it sends the last chunk only if hash and fingerprint match, and otherwise cuts the connection so that nothing is stored.',
    except: [
      'A program that writes through a memory map may leave size, times and inode unchanged: the next scrub (`scrub.interval`) or `--checksum` finds such a change.',
    ],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'sync/observe/odd-files.test.ts': ['a change through a memory map is found by the scrub'],
      'sync/upload/uploads.test.ts': ['a file that changes while it is sent (%s) stores nothing (P10)'],
      'local/read/read-verified.test.ts': [
        'a read ends incomplete when a writer %s',
        'a file with other content never gets its last chunk',
        'a small file with other content is busy',
      ],
      'remote/endpoints/uploads.test.ts': [
        'an upload arrives whole and declared, never chunked',
        'a body that fails after %i bytes never ends its request',
        'a body never sends more or fewer bytes than declared',
      ],
    },
  },
  {
    id: 'P11',
    holds:
      'shelfd reports "removed" and "missing remotely" only after a complete scan or listing; below a directory that cannot be read, or a page that contradicts itself, everything is unknown.',
    except: [],
    shownBy: {
      'sync/list-remote.test.ts': [
        'a directory that fails leaves the others complete',
        'a folder with a name %s makes its directory unknown',
      ],
      'sync/report/ask-unlisted.test.ts': [
        'a resource that deleted entries shifted past a cursor is asked for, and is not missing',
        'a resource for which the service %s is unknown, never missing',
      ],
      'sync/report/report.test.ts': [
        'a directory that cannot be read keeps its files in the store (P11)',
        'a page %s makes its files unknown, never missing (P11)',
        'a listing with many random faults loses nothing',
      ],
      'local/scan/scan-directory.test.ts': ['a directory is never taken for empty after %s'],
      'sync/continuous/mirror-observer.test.ts': ['a missing file is removed by a scan, not by a hint'],
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'rules/report-class.test.ts': ['a file is missing only by a complete listing'],
    },
  },
  {
    id: 'P12',
    holds:
      'of a run, not only at its begin: a directory that is gone, replaced, on another file system, emptied (of five files or more; whatever their number, when new files stand in their place), or that lost more than half and at least twenty of its files halts its mirror; nothing of another directory is sent, and nothing is recorded as removed. A directory that comes back continues without a question.',
    except: [
      'Files that an ignore rule leaves out now do not count as lost.',
      '`--accept-removals` and `--accept-root` confirm the change.',
    ],
    shownBy: {
      'endurance/simulation.test.ts': ['no simulated world breaks a promise'],
      'journeys/real-disks.test.ts': ['two disks swapped during a sync are never mixed (P12)'],
      'journeys/swapped-roots.test.ts': [
        'a sync halts each mirror whose root is swapped, and sends the rest later',
        'a daemon halts each mirror whose root is swapped, and continues by itself',
      ],
      'sync/swapped-root.test.ts': [
        'a scan records nothing of what takes the place of its root: %s',
        'a root that goes away beside the last uploads does not end well: %s',
        'a daemon whose root is swapped during a scan continues by itself',
      ],
      'local/read/open-root.test.ts': [
        'an open root notices that in its place is now: %s',
        'a root that is swapped while it is opened is refused',
      ],
      'journeys/guards.test.ts': [
        'a root that lost all files halts and records nothing',
        'a root that lost more than half its files halts',
        'a run that halts counts no file as removed',
        'newly ignored files hide no loss beside them',
        'new files in the place of all known ones are not sent before somebody confirms, however few',
        'a single file that is renamed or edited is no question',
      ],
      'journeys/daemon-guards.test.ts': ['a lost root halts its mirror alone until resolved'],
      'journeys/other-disk.test.ts': ['another disk at the same mount point is not sent'],
      'rules/loss-guard.test.ts': [
        'the root guard halts when all of five files are gone',
        'the root guard halts at more than half, from twenty on',
        'the root guard halts when new files stand in the place of all known ones, whatever their number',
      ],
      'sync/observe/moves-between-scans.test.ts': ['files missing after renames halt the mirror'],
    },
  },
  {
    id: 'P13',
    holds:
      'the content of a vanished file keeps its resource id: if the file returns, here or elsewhere in the library, nothing is sent.',
    except: [],
    shownBy: {
      'journeys/first-and-later-runs.test.ts': [
        'a file that comes back sends nothing (P13)',
        'an old content that returns is not superseded',
      ],
      'store/tables/queries.test.ts': ['a content keeps its resource id for good (P13)'],
      'sync/observe/moves-between-scans.test.ts': ['files renamed between scans are not lost'],
    },
  },
]
