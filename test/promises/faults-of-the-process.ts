import type { FaultRow } from './rows.ts'

/** Faults of the process itself and its state. */
export const faultsOfTheProcess: readonly FaultRow[] = [
  {
    id: 'F-PR-01',
    happens: 'SIGTERM or SIGINT',
    answer: 'no new work, a bounded time for uploads under way, then doubt, commit and end',
    class: 'next scan',
    shownBy: {
      'sync/stopping.test.ts': ['uploads beyond the grace of a stop are in doubt, and found later'],
      'journeys/interruptions.test.ts': [
        'the first Ctrl-C counts at once the uploads it waits for',
        'an interrupted run is no failure in the status',
      ],
      'journeys/exit-codes.test.ts': ['an interrupted sync exits 130, and the next run completes it'],
      'remote/endpoints/uploads.test.ts': ['an upload aborted on the way is in doubt'],
    },
  },
  {
    id: 'F-PR-02',
    happens: 'a second signal',
    answer: 'the process ends at once; uploads under way are in doubt',
    class: 'doubt',
    shownBy: {
      'journeys/interruptions.test.ts': ['the second Ctrl-C ends at once and counts the cut uploads'],
    },
  },
  {
    id: 'F-PR-03',
    happens: 'SIGKILL, or the power fails',
    answer: 'uploads under way are in doubt at the next start; no lock stays',
    class: 'doubt',
    shownBy: {
      'endurance/kills.test.ts': ['a killed process loses nothing and sends nothing twice (P1-P4)'],
      'journeys/under-way.test.ts': [
        'an upload is in doubt only after its process is gone',
        'an upload of a killed process stays in doubt for the next',
      ],
      'endurance/daemon-weather.test.ts': ['a daemon ended at random loses nothing and leaves no lock'],
      'daemon/control/control.test.ts': ['a new daemon replaces the control socket of a killed one'],
    },
  },
  {
    id: 'F-PR-04',
    happens: 'an uncaught exception',
    answer: 'the process ends with a code that lets the service manager start it again',
    class: 'halt',
    shownBy: {
      'journeys/credential-secrecy.test.ts': ['a crash prints its place and hides the credential'],
      'journeys/uncaught.test.ts': ['an uncaught exception ends the daemon with a restartable exit code'],
      'app/system-service/definitions.test.ts': ['the unit %s is not restarted after a final exit'],
    },
  },
  {
    id: 'F-PR-05',
    happens: 'a file of the store, or its directory, is deleted, replaced, overwritten or unmounted while it is open',
    answer:
      'looked at before each commit of intents: the run and the daemon end with exit 78, and nothing more is sent',
    class: 'halt',
    shownBy: {
      'store/integrity/gone-back.test.ts': ['a store that is %s in use takes no more writes'],
      'store/integrity/open-files.test.ts': [
        'a store whose files change between two writes takes no more',
        'a store whose files change during a write takes no later one',
        'a store takes its own checkpoints and harmless changes for no damage',
      ],
      'journeys/daemon-guards.test.ts': ['a daemon ends when its store is deleted, the next one asks (P14)'],
      'journeys/state-under-a-run.test.ts': [
        'a sync whose state is lost on the way ends with 78 and sends no more',
        'a daemon whose state %s ends by itself with 78',
        'a daemon whose state is unmounted ends by itself with 78',
      ],
    },
  },
  {
    id: 'F-PR-06',
    happens: 'another connection writes to the store meanwhile',
    answer: 'every transaction begins as a writer (`BEGIN IMMEDIATE`), so that none fails half way',
    class: 'retry',
    shownBy: { 'store/writing.test.ts': ['a transaction is a writer before it reads'] },
  },
  {
    id: 'F-PR-07',
    happens: 'a kill in the middle of a migration',
    answer: 'the store is either in its old or in its new schema, and the backup is whole',
    class: 'retry',
    shownBy: {
      'foundation/sqlite/open-database.test.ts': [
        'a migration cut off anywhere is whole or has not begun (P23)',
        'a migration killed during its backup leaves no half backup (P23)',
      ],
    },
  },
  {
    id: 'F-PR-08',
    happens: 'cron starts a run while the daemon runs',
    answer: 'the daemon is asked to do it; a store that another process holds is exit 11',
    class: 'accepted',
    shownBy: {
      'journeys/beside-daemon.test.ts': ['a sync beside a daemon runs in it, with the same summary'],
      'journeys/daemon-control.test.ts': ['sync, report and search work beside the daemon'],
      'journeys/exit-codes.test.ts': ['a store held by another instance exits 11'],
    },
  },
  {
    id: 'F-PR-09',
    happens: 'the disk of the state fails at a write, a flush or a rename',
    answer: 'the error names the disk; everything reported as done is stored, and the next run sends nothing again',
    class: 'operator',
    shownBy: { 'endurance/failing-writes.test.ts': ['a failing disk is named, and the next sync succeeds'] },
  },
  {
    id: 'F-PR-10',
    happens: 'the store was restored from an older copy, or lost all or part of its log',
    answer: 'readers and writers refuse it with exit 78, however little is missing',
    class: 'halt',
    shownBy: {
      'store/integrity/gone-back.test.ts': [
        'a log that lacks any receipt is refused',
        'an older copy of the database (%s) is refused, whenever it was made',
      ],
      'store/opening.test.ts': ['a store whose database is gone is refused'],
    },
  },
  {
    id: 'F-PR-11',
    happens: 'the lock file is deleted or replaced under a running process',
    answer: 'no other process gets the store',
    class: 'accepted',
    shownBy: {
      'store/lock.test.ts': [
        'a damaged lock file lets nobody else in',
        'a lock file deleted during a run lets no other process in',
      ],
    },
  },
  {
    id: 'F-PR-12',
    happens: 'connections to the daemon that send nothing, or never read',
    answer: 'the oldest silent one is closed, so that idle connections block no client',
    class: 'accepted',
    shownBy: {
      'daemon/health/health-server.test.ts': [
        'a probe is answered beside a hundred connections that %s',
        'a connection that stays silent too long is closed',
      ],
      'daemon/control/control-manners.test.ts': ['two hundred connections that %s keep no client out'],
    },
  },
  {
    id: 'F-PR-13',
    happens: 'a daemon that does not answer, or a file to be read that is a pipe',
    answer: 'no command waits without end: it reports the daemon, or refuses the file',
    class: 'accepted',
    shownBy: {
      'journeys/no-hangs.test.ts': [
        'a token file that is a pipe is refused',
        'a configuration that is a pipe is refused',
        'status reports a stopped daemon and answers from the store',
      ],
    },
  },
  {
    id: 'F-PR-14',
    happens: 'a document in the embedded library is written to cost much',
    answer: 'a child process with bounds reads it; it ends as partial or failed, and delays no other document',
    class: 'operator',
    shownBy: {
      'embedded/ingest/child-process.test.ts': [
        'a stopped extraction process never blocks requests or plain text',
        'an extraction process is ended when a document exceeds its time',
        'a document with a line of 150 MB takes bounded memory',
        'a document of %s MB of nested elements becomes searchable',
      ],
    },
  },
  {
    id: 'F-PR-15',
    happens: 'SIGSTOP for a while, in the middle of uploads',
    answer: 'the process continues where it was, and looks for uploads that broke meanwhile',
    class: 'retry',
    shownBy: { 'journeys/real-process.test.ts': ['a process stopped during an upload completes it afterwards'] },
  },
  {
    id: 'F-PR-16',
    happens: 'a pipe, a directory, a link, something huge or a foreign database where a file of the state belongs',
    answer: 'no command waits for it or reads it: exit 78, the file is named, nothing is sent',
    class: 'operator',
    shownBy: {
      'journeys/foreign-state-files.test.ts': [
        'what lies in place of a file of the state is named at once (P24)',
        'what lies in place of a file of the library is named at once',
        'a file of the state that is far too large is not read',
        'a lock that is no lock names the file to move away',
        'a link in place of the database is not followed',
        'a database with our numbers and %s is refused',
        'a database of another program without numbers is not made a store',
        'a state directory where none can be made is refused at once',
      ],
    },
  },
  {
    id: 'F-PR-17',
    happens: 'a full output, a working directory that is gone, no free file descriptor at start, a nonsense locale',
    answer: 'one line and an exit code of the table, no stack',
    class: 'operator',
    shownBy: {
      'journeys/surroundings.test.ts': [
        'a full standard output is one line and exit 1',
        'a working directory that is gone is named without a stack',
        'a lack of descriptors at start is exit 78 without a stack',
        'a locale that no system knows changes nothing',
      ],
    },
  },
  {
    id: 'F-PR-18',
    happens: 'a request to stop while a command waits for its standard input',
    answer: 'it ends at once: its input counts as ended',
    class: 'accepted',
    shownBy: {
      'journeys/signals.test.ts': [
        '%s ends a server for assistants whose stdin stays open',
        'SIGTERM ends a server for assistants in the middle of a call',
        'SIGTERM ends a request whose data do not come',
      ],
    },
  },
]
