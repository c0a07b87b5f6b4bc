import type { SecurityRow } from './rows.ts'

/** The rules of security, as docs/promises.md lists them. */
export const security: readonly SecurityRow[] = [
  {
    id: 'S-01',
    holds: 'The service is reached by https, unless it is on loopback.',
    shownBy: {
      'remote/client-options.test.ts': ['an unsafe origin is refused: %s'],
      'app/settings/settings-problems.test.ts': ['the address %s is refused as an origin and not repeated'],
    },
  },
  {
    id: 'S-02',
    holds: 'The check of certificates cannot be switched off, also not by a variable of Node.',
    shownBy: {
      'journeys/office-network.test.ts': ['no variable of Node switches off the certificate check'],
      'remote/wire/transport.test.ts': ['a refused certificate is final: %s'],
    },
  },
  {
    id: 'S-03',
    holds: 'Only the header `Authorization` carries the credential.',
    shownBy: {
      'journeys/credential-secrecy.test.ts': ['the credential stands in one header and nowhere else (P22)'],
      'remote/wire/transport.test.ts': ['a request carries the credential in one header only'],
    },
  },
  {
    id: 'S-04',
    holds: 'Secrets are left out of everything that is printed or logged, by their value, at every level.',
    shownBy: {
      'journeys/credential-secrecy.test.ts': ['a credential repeated in escapes is shown nowhere (P22)'],
      'foundation/text/redaction.test.ts': [
        'a secret is redacted when repeated as %s',
        'a secret is redacted in any mixture of escapes',
      ],
      'app/logging/create-logger.test.ts': ['a secret appears nowhere in a log, in any form, at any level'],
      'journeys/config-show.test.ts': ['config show never prints a secret'],
      'cli/service-commands.test.ts': ['the token is in no output of any command'],
      'journeys/notifications.test.ts': [
        'a receiver that fails changes nothing of the run, and its address stays secret',
      ],
    },
  },
  {
    id: 'S-05',
    holds: 'Files and directories that shelfd creates are for their owner alone.',
    shownBy: {
      'journeys/ownership.test.ts': [
        'state and library are readable for their user alone',
        'compiled code is kept in a private cache of its user',
        'a replaced file follows no planted link',
      ],
      'store/opening.test.ts': ['a store is for its owner alone'],
      'embedded/start-embedded.test.ts': ['the data directory and its files are private'],
      'daemon/control/control.test.ts': ['only its owner may open the control socket'],
    },
  },
  {
    id: 'S-06',
    holds:
      'A secret that others can read is refused, and so is any file that decides what is run, read or sent if another user owns it or can write it.',
    shownBy: {
      'journeys/ownership.test.ts': [
        'a configuration of another user is refused before its tokenCommand runs',
        'a configuration that others can write is refused with its remedy',
        'a token file of another user is refused',
        'every command refuses a state directory that others can write',
        'a program or authority that others can write is refused',
      ],
      'app/service-client/credential.test.ts': ['a token file of mode %o is refused'],
      'app/notify/channels.test.ts': ['a command that others can change is not run'],
      'app/settings/settings-problems.test.ts': [
        'a file with a token that others can read is refused',
        'a file with a command that others can write is refused',
      ],
    },
  },
  {
    id: 'S-07',
    holds: 'Names from the service become local names only through one function.',
    shownBy: {
      'app/files/user-files.test.ts': [
        'a name from outside stays in its directory, whatever it holds',
        'the name %j from outside becomes %j',
      ],
    },
  },
  {
    id: 'S-08',
    holds: 'Text from the service is bounded and escaped before it is shown or kept.',
    shownBy: {
      'journeys/hostile-names.test.ts': ['hostile words of a service are escaped by every command'],
      'cli/safe-output.test.ts': ['a hostile mark is escaped: %j', 'output has nothing that a terminal obeys (%s)'],
      'remote/wire/transport.test.ts': [
        'a refusal shows the words of the service, escaped',
        'a refusal bounds the words of the service',
      ],
      'sync/ingestion/follow-ingestion.test.ts': ['an unknown status is reported bounded and escaped'],
      'cli/service-commands.test.ts': ['names from outside cannot write to the terminal'],
    },
  },
  {
    id: 'S-09',
    holds: 'JSON of the service is bounded, also after it is unpacked.',
    shownBy: { 'remote/wire/transport.test.ts': ['an answer with %s is malformed'] },
  },
  {
    id: 'S-10',
    holds: 'SQL is prepared and takes values only as parameters; a schema is not trusted.',
    shownBy: {
      'foundation/sqlite/open-database.test.ts': ['a connection that reads or writes trusts no schema'],
      'store/writing.test.ts': ['statements never contain a value, whatever it is'],
    },
  },
  {
    id: 'S-11',
    holds:
      'Commands reach the daemon by a socket of its owner (0600); the pages of health are served on loopback, for names of loopback.',
    shownBy: {
      'embedded/server/foreign-host.test.ts': ['a page of a foreign name receives nothing on loopback'],
      'cli/serve.test.ts': ['serve beyond loopback warns and refuses every request without a token'],
      'daemon/control/control.test.ts': [
        'only its owner may open the control socket',
        'a runtime directory that is a link is not used',
      ],
      'daemon/health/health-server.test.ts': [
        'the health server refuses to listen on %j',
        'a request for the host %s is refused',
        'another machine cannot reach the health server',
      ],
    },
  },
  {
    id: 'S-12',
    holds: 'No GET changes a state.',
    shownBy: {
      'daemon/health/health-server.test.ts': ['%s is refused, and the allowed methods are named'],
      'embedded/server/reading.test.ts': ['no GET writes anything, whatever it asks for (S-12)'],
    },
  },
  {
    id: 'S-13',
    holds: 'A credential that may delete gets a warning.',
    shownBy: { 'cli/service-commands.test.ts': ['a credential that may delete gets a warning'] },
  },
  {
    id: 'S-14',
    holds: 'Root sends to a service only by a flag, a variable or as a system service.',
    shownBy: {
      'cli/options/allow-root.test.ts': [
        'root sends nothing to a service without a flag',
        'root may send by flag, variable or system service',
        'root is only warned where nothing leaves the machine',
      ],
    },
  },
  {
    id: 'S-15',
    holds: 'The system unit of systemd exposes at most 1.5 of 10.',
    shownBy: {
      'app/system-service/definitions.test.ts': [
        'the system unit exposes next to nothing',
        'the unit %s leaves Node its compiled code',
      ],
    },
  },
  {
    id: 'S-16',
    holds: 'Few dependencies, each with its reason, of locked versions; one install script is allowed.',
    shownBy: {
      'package/supply.test.ts': [
        'the bill of materials has every component that npm lists',
        'the bill of materials names each direct dependency',
      ],
      'package/dependencies.test.ts': [
        'each dependency is locked to a version with its checksum',
        'one dependency at most runs a script at its installation',
        'an installed program has few dependencies',
      ],
      'docs.test.ts': ['the decisions give a reason for every dependency'],
    },
  },
  {
    id: 'S-17',
    holds: 'The embedded library bounds connections, headers, bodies and forms, and what reading a document may take.',
    shownBy: {
      'embedded/server/request-bounds.test.ts': [
        'a slow body of the type %s ends with 408',
        'a body that drips ends with 408, however long it would last',
        'idle connections prevent no request, however many',
        'a form with %s is refused (%i)',
        'a JSON body of %s is refused (%i)',
      ],
      'embedded/server/request-fuzz.test.ts': ['any request is answered, and never with a failure'],
      'embedded/ingest/document-fuzz.test.ts': [
        'any document gives passages of bounded length, in order',
        'any document gives the same text in pieces of any size',
        'any document reaches a final state and does not block another',
        'the cost of %s in %s grows no faster than its size',
      ],
      'embedded/ingest/child-process.test.ts': [
        'a stopped extraction process never blocks requests or plain text',
        'a document that ends its process twice fails, and only that one',
        'an extraction process that takes too much memory is ended',
        'an extraction process is ended when a document exceeds its time',
        'a document of %s MB of nested elements becomes searchable',
        'a document with a line of 150 MB takes bounded memory',
      ],
    },
  },
  {
    id: 'S-18',
    holds:
      'shelfd follows no link that others planted when it writes a file, and runs no code that others could have put in place of ours.',
    shownBy: {
      'journeys/ownership.test.ts': [
        'a replaced file follows no planted link',
        'files of the state replace planted links, not their targets',
        'compiled code is kept in a private cache of its user',
        'a code cache of another user is never used',
        "a state directory behind another user's link is refused",
      ],
    },
  },
  {
    id: 'S-19',
    holds: 'Printed or logged text never moves the cursor, reorders text or hides characters, whatever its source.',
    shownBy: {
      'cli/safe-output.test.ts': [
        'output has nothing that a terminal obeys (%s)',
        'tables, fields and progress keep their lines, whatever the text',
        'escaped JSON parses to the same text',
      ],
      'journeys/hostile-names.test.ts': [
        'hostile names are mirrored one by one and escaped',
        'hostile words of a service are escaped by every command',
      ],
      'journeys/credential-secrecy.test.ts': ['a crash prints its place and hides the credential'],
    },
  },
  {
    id: 'S-20',
    holds:
      'The embedded library answers no request without a token, and warns when others on the network can reach it.',
    shownBy: {
      'cli/serve.test.ts': ['serve beyond loopback warns and refuses every request without a token'],
      'embedded/server/foreign-host.test.ts': ['a page of a foreign name receives nothing on loopback'],
      'embedded/access/manage-tokens.test.ts': ['each missing right of a token is answered with 403'],
    },
  },
  {
    id: 'S-21',
    holds: 'The package lists everything that is installed with it, with checksums.',
    shownBy: {
      'package/supply.test.ts': [
        'the bill of materials is reproducible and has every hash',
        'the bill of materials has every component that npm lists',
        'the bill of materials names each direct dependency',
      ],
      'package/package.test.ts': ['the bill of materials lists every installed package'],
    },
  },
  {
    id: 'S-22',
    holds:
      'The page of the library runs no code but its own, asks no other server, and keeps the token out of addresses and cookies.',
    shownBy: {
      'embedded/server/page.test.ts': [
        'the page may run only its own script and contact only its server',
        'the page loads little, all of it from this server',
      ],
      'web/sign-in.test.ts': [
        'the token stays in the tab until the user signs out',
        'the token is in no address and no page',
        'a token revoked meanwhile leads to the sign-in',
      ],
      'web/reading.test.ts': ['originals are shown without running their scripts'],
    },
  },
  {
    id: 'S-23',
    holds:
      'The dashboard answers this machine and its own page alone: a one-time address opens one session, whose token is in no address.',
    shownBy: {
      'dashboard/dashboard-security.test.ts': [
        'without a session every call and the live stream are refused',
        'a token is accepted in its header only, never in an address',
        'a one-time key opens one session',
        'keys end after five minutes, sessions after twelve idle hours',
        'a foreign host or origin is refused, also with a session',
        'GET changes nothing',
        'the page comes with a strict policy and loads nothing from elsewhere',
        'the dashboard listens on loopback only',
      ],
      'dashboard/dashboard-command.test.ts': ['a path that leaves its mirror is refused'],
      'web/dashboard.test.ts': ['the one-time address signs in once and stays nowhere'],
    },
  },
  {
    id: 'S-24',
    holds:
      'No identifier, path, field name or address from outside changes where a request goes, what it says, or what a page opens.',
    shownBy: {
      'remote/endpoints/hostile-addresses.test.ts': [
        '%s takes no identifier that changes an address',
        'a library path with dots is neither listed nor created',
        'a path with dots is called by no raw request',
        'an identifier that would change an address is no answer',
        'a view URL of another scheme is no answer',
        'a relative view URL is one of the service',
      ],
      'remote/capabilities/capabilities.test.ts': ['a field %j becomes part of no request'],
      'journeys/agents.test.ts': ['no path with dots and no odd identifier of an assistant reaches the service'],
      'journeys/daemon-doors.test.ts': ['a sync to a path with dots, or of a relative directory, is refused'],
      'web/dashboard-doors.test.ts': [
        'the page opens only addresses of the own service',
        'the page opens nothing that is no web address',
      ],
    },
  },
  {
    id: 'S-25',
    holds:
      'The daemon checks what a client asks as the command line does: every number has its bounds, and no request makes more threads than the machine has room for.',
    shownBy: {
      'journeys/daemon-doors.test.ts': [
        'a number beyond its bounds is refused with its key and bounds',
        'a sync inside a mirror of the daemon is refused',
      ],
      'app/settings/settings-problems.test.ts': ['a number beyond its bounds is refused with its key and bounds'],
      'foundation/text/units.test.ts': [
        'a duration of more than ten years is none',
        'a size of more than 1024 TB is none',
      ],
      'sync/observe/walking-threads.test.ts': ['a walk takes no more threads than the machine has room for'],
    },
  },
  {
    id: 'S-26',
    holds: 'No process of shelfd opens a debugger, whatever signal it gets.',
    shownBy: {
      'journeys/signals.test.ts': ['SIGUSR1 opens no debugger in $args.0'],
      'embedded/ingest/child-process.test.ts': ['SIGUSR1 opens no debugger in an extraction process'],
    },
  },
]
