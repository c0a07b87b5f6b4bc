import type { PromiseRow } from './rows.ts'

/** What holds at every moment. The code cites the numbers. */
export const promises: readonly PromiseRow[] = [
  {
    id: 'P1',
    holds:
      'results that shelfd reported as done are on the disk: the resource id of an upload reported as stored survives a killed process and a power cut.',
    except: [
      'A disk that reports a write before it is durable.',
      'Facts that a scan can find again (names, times, hashes) are written without waiting for the disk; after a power cut the next scan finds them.',
    ],
  },
  {
    id: 'P2',
    holds: 'no byte of an upload leaves before its intent (path, SHA-256, MIME type, size, attempt) is committed.',
  },
  {
    id: 'P3',
    holds:
      'a library has at most one resource of ours for each SHA-256 and MIME type, and at most one upload of it is under way.',
    except: [
      'An upload whose answer was lost and that no search finds is sent once more; a service without a duplicate rule then has two.',
      'Two stores without a ledger, say on two computers, do not know of each other: there only the duplicate rule of the service holds. With one, at most one upload of a content is under way among all hosts, unless a process is stopped between its last look at its lease and the write for longer than lease and grace; each such second upload is named.',
    ],
  },
  {
    id: 'P4',
    holds:
      'an upload whose answer is lost, cut, a 5xx or malformed is in doubt, neither done nor failed: a search decides, then it is sent at most once more in the run; if it is still not stored, it is a problem of its file with growing delays.',
    except: [
      'When a search finds nothing although the upload was stored, the second one is answered as a duplicate: the resource may then have a second location, and the report says so.',
    ],
  },
  {
    id: 'P5',
    holds:
      'a resource that is still being processed at the deadline keeps its id and is polled later, also by another process or host; it is not sent again because of that.',
  },
  {
    id: 'P6',
    holds:
      'only `completed` and `completed_with_warnings` count as searchable; `partial` and `failed` are reported to the operator, and a state that the interface does not name is an error.',
  },
  {
    id: 'P7',
    holds:
      'the engine makes only requests that read or add: none deletes, moves or overwrites anything at the service.',
    except: [
      '`shelfd libraries delete`, which asks for the name of the library, and `shelfd api`, which sends any typed request.',
      '`shelfd library prune` and `remove`, which ask, and only remove from the library on this computer.',
    ],
  },
  {
    id: 'P8',
    holds: 'shelfd writes nothing to the mirrored directories: contents, names, times and inodes stay unchanged.',
    except: ['The time of the last access, where the file system keeps it.'],
  },
  {
    id: 'P9',
    holds:
      'no byte and no name from outside the directory of a mirror is hashed, recorded or sent: shelfd follows no symbolic links, and checks the real path of each opened file before it reads it.',
    except: [
      'A hard link is the file itself: its bytes belong to every directory that names it.',
      'What is mounted inside the directory belongs to it, unless `oneFileSystem` is set.',
    ],
  },
  {
    id: 'P10',
    holds:
      'shelfd sends exactly the bytes that it hashed and declared; it sends the last chunk only if hash and fingerprint match, and otherwise cuts the connection so that nothing is stored.',
    except: [
      'A program that writes through a memory map may leave size, times and inode unchanged: the next scrub (`scrub.interval`) or `--checksum` finds such a change.',
    ],
  },
  {
    id: 'P11',
    holds:
      'shelfd reports "removed" and "missing remotely" only after a complete scan or listing; below a directory that cannot be read, or a page that contradicts itself, everything is unknown.',
  },
  {
    id: 'P12',
    holds:
      'of a run, not only at its begin: a directory that is gone, replaced, on another file system, emptied (of five files or more; whatever their number, when new files stand in their place), or that lost more than half and at least twenty of its files halts its mirror; nothing of another directory is sent, and nothing is recorded as removed. A directory that comes back continues without a question.',
    except: [
      'Files that an ignore rule leaves out now do not count as lost.',
      '`--accept-removals` and `--accept-root` confirm the change.',
    ],
  },
  {
    id: 'P13',
    holds:
      'the content of a vanished file keeps its resource id: if the file returns, here or elsewhere in the library, nothing is sent.',
    except: [
      'What a person pruned from the library on this computer is sent again if its file returns; what they removed is sent when they ask for it.',
    ],
  },
  {
    id: 'P14',
    holds:
      'if the store is lost or new beside a library that holds our directory, or if more contents are new than the limits allow, shelfd stops and asks instead of sending everything again.',
    except: [
      'With `--adopt`, shelfd adopts resources that it finds by name, type and bytes; it sends files that were renamed meanwhile, which the service answers as duplicates.',
    ],
  },
  {
    id: 'P15',
    holds:
      'origin, tenant, library and directory of a mirror are those of its first use; shelfd refuses others with exit 7, and sends and writes nothing.',
    except: ['`--accept-root` accepts another directory.'],
  },
  {
    id: 'P16',
    holds:
      'a store has one writer: a second process ends with exit 11 and changes nothing, and a crash leaves no lock. A host has one session at a ledger: a copy of its state ends with exit 78.',
    except: [
      'A file system whose locks do not work, as some network mounts: keep the state on a local disk.',
      'Where the file system does not record when a directory was created, the copy of a state that comes first is taken for its host.',
    ],
  },
  {
    id: 'P17',
    holds: 'if nothing changes, the next run sends nothing, creates no directory and changes nothing of the state.',
    except: ['The list of past runs grows by one.', 'Failed contents are tried again when their quarantine is over.'],
  },
  {
    id: 'P18',
    holds: 'a run that was cut off and repeated ends like an undisturbed run.',
    except: ['The second locations of P4.'],
  },
  {
    id: 'P19',
    holds: 'each scanned entry is in exactly one class of the report, and the counts add up on both sides.',
  },
  {
    id: 'P20',
    holds: 'correctness does not depend on the wall clock: it may jump by ten years, forwards or back.',
    except: [
      'Times of day by definition: schedules, maintenance windows, the limit of a day, and when a certificate or a token ends.',
    ],
  },
  {
    id: 'P21',
    holds:
      'uploads, descriptors, memory, log and retries have a bound, and `Retry-After` (seconds or a date) is a lower bound that holds for all requests, of all hosts of a ledger from their next beat on.',
    except: [
      'The store grows with the number of files and contents it knows.',
      'For processes that start later, a requested wait of more than a week ends after a week; commands that ask the service by hand keep only their own.',
    ],
  },
  {
    id: 'P22',
    holds: 'shelfd sends the credential only in the header `Authorization` and only to the configured origin.',
    except: [
      'Its place on your computer: the token file, the variable or the output of the command is yours to guard.',
    ],
  },
  {
    id: 'P23',
    holds:
      'shelfd refuses a store of a newer schema before it writes anything; it backs an older one up, then migrates it in one transaction.',
  },
  {
    id: 'P24',
    holds:
      'shelfd never uses a damaged, lost or older store and never silently creates a new one: it exits with 78 and explains the way back.',
    except: [
      'A snapshot of the whole file system that is rolled back also rolls back the generation record beside the store.',
    ],
  },
]
