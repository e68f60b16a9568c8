export const BACKUP_HELP = `Usage: fairlead backup --out FILE (--data-dir DIR | --database-url URL) [--with-keys --passphrase-file FILE]

Writes a site into one file (0600), as it is at one moment, signed by the site's CA. The site may go on working.

Options:
  --out FILE               the file to write; one that exists is never replaced
  --data-dir DIR           the data folder of an embedded site, running or not
  --database-url URL       the site's own PostgreSQL
  --keys-dir DIR           the site's key files, whose CA signs the backup (default: DATA_DIR/keys)
  --with-keys              put the key files in, sealed under a passphrase
  --passphrase-file FILE   the passphrase, at least 12 characters
  --json                   print what was written as JSON
  --help                   show this

Example:
  fairlead backup --data-dir /var/lib/fairlead --out /backup/site.fairlead
  fairlead backup --database-url postgres://fairlead@db/fairlead --keys-dir /etc/fairlead/keys --with-keys --passphrase-file /etc/fairlead/passphrase --out /backup/site.fairlead
`;

export const RESTORE_HELP = `Usage: fairlead restore FILE (--data-dir DIR | --database-url URL) [--passphrase-file FILE]

Brings a site back from a file that fairlead backup wrote. The place must be empty; the same build must have written it.
The file must be signed by the site's CA, which is known from --passphrase-file, from site-ca.json in --keys-dir, or from
--ca-pin: one of them is needed.
Afterwards start the server and run: fairlead authority new-epoch --reason database_restored

Options:
  --data-dir DIR           the new site's data folder, for an embedded site
  --database-url URL       an empty PostgreSQL database
  --keys-dir DIR           where the key files go (default: DATA_DIR/keys)
  --passphrase-file FILE   opens the key files in the backup
  --ca-pin PIN             the pin of the site's CA, as fairlead context show prints it
  --check                  only read the file to its end and say whether it is whole, and whose it is
  --json                   print the result as JSON
  --help                   show this

Example:
  fairlead restore --check /backup/site.fairlead
  fairlead restore /backup/site.fairlead --data-dir /var/lib/fairlead --passphrase-file /etc/fairlead/passphrase
`;
