-- Which key files belong to this site: a replica that was given none, or another site's, finds out before it serves.
alter table clusters
  add column ca_pin        text,
  add column token_key_id  text;
