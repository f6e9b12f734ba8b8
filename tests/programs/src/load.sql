create table items (id serial primary key, name text, price numeric(10, 2), tags text[]);

insert into items (name, price, tags) select 'item ' || i, i * 7919 % 10007 / 100.0, array['t' || i % 7, 't' || i % 11] from generate_series(1, 20000) i;

create index on items (price);

create index on items using gin (tags);

create function steps(n bigint) returns int language plpgsql as $$ declare c int := 0; begin while n <> 1 loop n := case when n % 2 = 0 then n / 2 else 3 * n + 1 end; c := c + 1; end loop; return c; end $$;

analyze items;

select tags[1] as tag, count(*), sum(price), round(avg(price), 3) as mean from items where price between 10 and 60 group by 1 order by 1;

select count(*) from items where tags @> array['t3', 't5'];

select id, name, rank() over (partition by tags[1] order by price desc) as place from items where name ~ '^item 1[0-9]{3}$' order by place, id limit 5;

select max(steps(i)) from generate_series(1, 2000) i;

update items set price = price * 1.1 where id % 3 = 0;

delete from items where id % 5 = 0;

select count(*), sum(price), md5(string_agg(name, ',' order by id)) from items;

select 1 / 0;

vacuum;
